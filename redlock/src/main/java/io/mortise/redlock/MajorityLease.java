package io.mortise.redlock;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold that is valid while a majority of the nodes holds its member.
 *
 * <p><b>Threads.</b> Any thread may call it; {@link CompositeLease} says what orders the members
 * and the state. Members are added on threads of the nodes' clients.
 */
final class MajorityLease extends CompositeLease
    implements QuorumLease, NodeReacquisition.IncompleteHold {
  private static final Logger LOG = LoggerFactory.getLogger(MajorityLease.class);

  private final LeaseSource source;
  private final QuorumMembers quorumMembers;
  private final MajorityRequest nodeRequests;
  private final NodeReacquisition reacquisition;

  /** The lost members that have been logged, by place. */
  private final AtomicReferenceArray<@Nullable OwnedLease> loggedLosses;

  /** Whether a node was forced after its grant, before its lease joined the hold. */
  private volatile boolean forcedBeforeJoining;

  /** Cancels the task that is scheduled for the end of {@code maxHold}, or after it. */
  private volatile Runnable cancelEnd;

  /**
   * @param leases the leases by place; null where the node has not granted one
   */
  MajorityLease(
      LeaseSource source,
      QuorumMembers quorumMembers,
      List<? extends @Nullable OwnedLease> leases,
      long token,
      @Nullable Thread owner,
      LeaseTerms terms,
      NodeReacquisition reacquisition) {
    super(source, leases, quorumMembers.quorum(), token, owner, terms.renewed());
    this.source = source;
    this.quorumMembers = quorumMembers;
    this.nodeRequests =
        new MajorityRequest(quorumMembers, quorumMembers.budgetNanos(terms.leaseMillis()));
    this.reacquisition = reacquisition;
    this.loggedLosses = new AtomicReferenceArray<>(leases.size());
    reacquisition.begin(this);
    Duration maxHold = source.options().maxHold();
    this.cancelEnd =
        maxHold.equals(LockOptions.MAX_LEASE) ? () -> {} : scheduleEndOfRenewal(maxHold);
    watch();
    for (int i = 0; i < leases.size(); i++) {
      if (leases.get(i) == null) {
        reacquisition.recheck(i);
      }
    }
  }

  /** A node that was reacquired began later; the whole hold ends by its own {@code maxHold}. */
  private Runnable scheduleEndOfRenewal(Duration after) {
    try {
      return source.schedule(this::endRenewal, after.toNanos());
    } catch (RejectedExecutionException closed) {
      return () -> {};
    }
  }

  /**
   * A hold with a lease of its own goes on, and is looked at again: a renewal may begin later, and
   * ends when no more is left than the members have after a renewal. The next look is scheduled
   * first, so that an error in this one costs no more than this one.
   */
  private void endRenewal() {
    if (isValid()) {
      cancelEnd = scheduleEndOfRenewal(source.options().lease().dividedBy(3));
      if (isRenewed() && remaining().compareTo(quorumMembers.longestLease()) <= 0) {
        stopRenewal("it was held for longer than LockOptions.maxHold");
        cancelEnd.run();
      }
    }
  }

  private void end() {
    reacquisition.end();
    cancelEnd.run();
  }

  @Override
  public int validNodes() {
    return validMembers();
  }

  @Override
  public int nodes() {
    return capacity();
  }

  @Override
  public int quorum() {
    return required();
  }

  @Override
  public boolean isForced() {
    return forcedBeforeJoining || members().stream().anyMatch(MajorityLease::isForced);
  }

  private static boolean isForced(OwnedLease member) {
    return member.loss().filter(why -> why.reason() == Reason.FORCED).isPresent();
  }

  @Override
  public @Nullable OwnedLease leaseAt(int place) {
    return member(place);
  }

  @Override
  public boolean addMember(int place, @Nullable OwnedLease expected, OwnedLease lease) {
    int left = 0;
    boolean joined = false;
    try {
      left = validNodes();
      reacquisition.extendToTheOthers(lease);
      joined =
          !isForced()
              && (lease.lastToken() <= fencingToken() || isConfirmed())
              && raiseTokenOf(lease)
              && join(place, expected, lease);
      if (joined) {
        applyTerms(lease);
        raiseTokenOf(lease); // usually sends nothing
      }
    } catch (LockException | IllegalMonitorStateException e) { // the hold may have ended meanwhile
      LOG.debug("lock '{}': {} cannot join the hold", lockName(), quorumMembers.at(place), e);
    } finally {
      try {
        if (!joined) {
          QuorumMember.releaseQuietly(lease);
          noteForce(lease);
        } else if (expected != null) { // the hold may not have been notified of its loss yet
          warnOfLoss(place, expected, left);
        }
      } finally {
        reacquisition.recheck(place);
      }
    }
    return joined;
  }

  /** The forced release of one node may have hit the others too, and none is reacquired. */
  private void noteForce(OwnedLease notJoined) {
    if (isForced(notJoined)) {
      forcedBeforeJoining = true;
      requestVerification();
    }
  }

  /** Applies to a new member the requests that the hold got before the member joined. */
  private void applyTerms(OwnedLease member) {
    applyRenewal(
        renewed -> {
          if (renewed) {
            member.extendTo(reacquisition.renewedTerms());
          } else {
            member.setRenewed(false);
          }
        });
  }

  /**
   * Applies whether the hold is renewed to a member. Repeats until the two agree, because the hold
   * may get another request in the meantime.
   */
  private void applyRenewal(Consumer<Boolean> member) {
    boolean renewed;
    do {
      renewed = isRenewed();
      member.accept(renewed);
    } while (renewed != isRenewed());
  }

  /**
   * Returns whether a majority of the nodes confirms the hold now. Asked when a reacquired node has
   * issued a later token than this hold's: another client held that node, alone or with a majority.
   * If a member of this hold had lost its lease by then, this hold had ended unnoticed, and must
   * not be completed.
   */
  private boolean isConfirmed() {
    return askMembers(OwnedLease::verifyNow).done() >= quorum();
  }

  /**
   * As {@link #addMember}, on a thread of the node's client if one is available, so that the owner
   * of the hold need not wait.
   */
  void addMemberAsync(int place, OwnedLease lease) {
    FanOut<Boolean> requests = quorumMembers.fanOut(nodeRequests.budgetNanos());
    requests.submitOrRun(
        place, () -> addMember(place, null, lease)); // otherwise nothing would release it
    requests.close(false, FanOut.ignoreLate());
  }

  /** Each acquisition has members of its own. */
  @Override
  protected boolean membersMayOutlast() {
    return false;
  }

  @Override
  protected void onMemberLost(int place, OwnedLease member) {
    QuorumMember.releaseQuietly(member);
    if (member(place) != member) {
      return;
    }
    if (isForced(member)) {
      requestVerification(); // the forced release may have hit the others too
    }
    reacquisition.recheck(place);
    warnOfLoss(place, member, validNodes());
  }

  /**
   * Warns once of each lost member. On another thread: a log may block, and this one has other
   * holds to tell of their losses.
   */
  private void warnOfLoss(int place, OwnedLease member, int left) {
    if (loggedLosses.getAndSet(place, member) == member) {
      return;
    }
    log(
        () ->
            LOG.warn(
                "lock '{}': {} does not hold it any more, {} of {} nodes do: {}",
                lockName(),
                quorumMembers.at(place),
                left,
                nodes(),
                member.loss().map(LeaseLoss::detail).orElse("it was released by itself")));
  }

  @Override
  protected void lost() {
    end();
  }

  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    end();
    return nodeRequests.ask(this::leaseAt, OwnedLease::release, true).failures();
  }

  @Override
  protected void releaseMembersInBackground() {
    end();
    super.releaseMembersInBackground();
  }

  /**
   * Each member has the renewal set again after its action: an extension that failed, because its
   * nodes were too slow, may still have this member renewed, after the reset.
   */
  @Override
  protected MemberReplies askMembers(Consumer<OwnedLease> action) {
    Consumer<OwnedLease> asked = action.andThen(member -> applyRenewal(member::setRenewed));
    return nodeRequests.ask(this::leaseAt, asked, false);
  }
}
