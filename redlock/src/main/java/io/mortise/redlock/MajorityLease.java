package io.mortise.redlock;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.redlock.FanOut.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A hold that stands while a majority of the nodes has it. */
final class MajorityLease extends CompositeLease implements QuorumLease {
  private static final Logger LOG = LoggerFactory.getLogger(MajorityLease.class);

  /** How long a release waits for the last nodes, once a majority has confirmed it. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final QuorumLeaseSource source;
  private final long budgetNanos;
  private final NodeReacquisition retaking;

  /** The lost members that have been told of, by place. */
  private final AtomicReferenceArray<@Nullable OwnedLease> told;

  /** Takes back what was scheduled for the end of the longest time. */
  private final Runnable cancelEnd;

  /**
   * @param leases by place; null where the node has not granted one
   * @param terms those of the acquisition
   * @param budgetNanos for how long a node may take to answer
   */
  MajorityLease(
      QuorumLeaseSource source,
      List<? extends @Nullable OwnedLease> leases,
      long token,
      @Nullable Thread owner,
      LeaseTerms terms,
      NodeReacquisition retaking,
      long budgetNanos) {
    super(source, leases, source.quorum(), token, owner, terms.renewed());
    this.source = source;
    this.budgetNanos = budgetNanos;
    this.retaking = retaking;
    this.told = new AtomicReferenceArray<>(leases.size());
    retaking.begin(this);
    this.cancelEnd = endOfRenewal();
    watch();
    for (int i = 0; i < leases.size(); i++) {
      if (leases.get(i) == null) {
        retaking.scheduleFor(i);
      }
    }
  }

  /** Nodes that were taken again began later; the hold as a whole ends with its own time. */
  private Runnable endOfRenewal() {
    Duration maxHold = source.options().maxHold();
    if (maxHold.equals(LockOptions.MAX_LEASE)) {
      return () -> {};
    }
    try {
      return source.schedule(() -> setRenewed(false), maxHold.toNanos());
    } catch (RejectedExecutionException closed) {
      return () -> {};
    }
  }

  private void end() {
    retaking.end();
    cancelEnd.run();
  }

  @Override
  public int validNodes() {
    return validMembers();
  }

  @Override
  public int nodes() {
    return places();
  }

  @Override
  public int quorum() {
    return required();
  }

  /** What stands at that place, lost or not; null when nothing does. */
  @Nullable OwnedLease leaseAt(int place) {
    return member(place);
  }

  /**
   * A node has granted a lease after the hold had begun.
   *
   * @param expected what stood in its place until now
   * @return false when it could not join, and was given back
   */
  boolean addMember(int place, @Nullable OwnedLease expected, OwnedLease lease) {
    boolean joined = false;
    try {
      joined =
          (lease.lastToken() <= fencingToken() || isConfirmed())
              && lease.raiseToken(fencingToken())
              && join(place, expected, lease);
      if (joined) {
        adapt(lease);
      }
    } catch (LockException e) {
      LOG.debug("lock '{}': {} cannot join as it should", lockName(), source.member(place), e);
    } finally {
      if (!joined) {
        releaseQuietly(lease);
      }
      retaking.look(place);
    }
    return joined;
  }

  /**
   * What was asked of the hold while this member could not hear it holds for it too. Until the two
   * agree: the hold may be asked for something else meanwhile.
   */
  private void adapt(OwnedLease member) {
    boolean renewed;
    do {
      renewed = isRenewed();
      if (renewed) {
        member.extendTo(retaking.lasting());
      } else {
        member.setRenewed(false);
      }
    } while (renewed != isRenewed());
  }

  /**
   * Whether a majority of the nodes says now that it has the hold. Asked when a node that was taken
   * again has given out a later token than this hold's meanwhile: somebody else was there, alone or
   * with a majority. If a node of ours had forgotten its lease by then, ours was over, unseen, and
   * must not be made whole.
   */
  private boolean isConfirmed() {
    return askMembers(OwnedLease::verifyNow).done() >= quorum();
  }

  /**
   * As {@link #addMember}, on a thread of the node's client, if one can be had: so its owner need
   * not wait.
   */
  void addMemberAsync(int place, OwnedLease lease) {
    FanOut<Boolean> joining = source.poll();
    joining.submitOrRun(place, () -> addMember(place, null, lease)); // or nobody would release it
    joining.close(false, (late, joined) -> {});
  }

  @Override
  protected void onMemberLost(int place, OwnedLease member) {
    releaseQuietly(member);
    if (member(place) != member) {
      return;
    }
    Optional<LeaseLoss> loss = member.loss();
    if (loss.filter(why -> why.reason() == Reason.FORCED).isPresent()) {
      retaking.exclude(place);
      requestVerification(); // who takes one node by force takes the others too: they are not taken
      // again
    } else {
      retaking.scheduleFor(place);
    }
    if (told.getAndSet(place, member) != member) {
      LOG.warn(
          "lock '{}': {} does not hold it any more, {} of {} nodes do: {}",
          lockName(),
          source.member(place),
          validNodes(),
          nodes(),
          loss.map(LeaseLoss::detail).orElse("it was released by itself"));
    }
  }

  @Override
  protected void lost() {
    end();
    try {
      var unused = source.submit(() -> releaseMembers(members()));
    } catch (RejectedExecutionException closed) {
      releaseMembers(members());
    }
  }

  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    end();
    return onAllMembers(MajorityLease::release, true).failures();
  }

  /** Has a member released. */
  static void release(FanOut<Boolean> poll, int place, OwnedLease lease) {
    poll.submitOrRun(place, asking(OwnedLease::release, lease));
  }

  private static Callable<Boolean> asking(Consumer<OwnedLease> action, OwnedLease lease) {
    return () -> {
      action.accept(lease);
      return true;
    };
  }

  @Override
  protected Asked askMembers(Consumer<OwnedLease> action) {
    return onAllMembers((poll, place, lease) -> poll.submit(place, asking(action, lease)), false);
  }

  /** Asks a member something. */
  @FunctionalInterface
  private interface Asking {
    void ask(FanOut<Boolean> poll, int place, OwnedLease lease);
  }

  /**
   * Does something with all members at the same time.
   *
   * @param all whether to give all of them the time to end, and not only the majority
   */
  private Asked onAllMembers(Asking asking, boolean all) {
    FanOut<Boolean> poll = source.poll();
    for (int i = 0; i < nodes(); i++) {
      OwnedLease lease = member(i);
      if (lease != null) {
        asking.ask(poll, i, lease);
      }
    }
    long untilNanos = System.nanoTime() + budgetNanos;
    poll.awaitUninterruptibly(answers -> answers.count(yes -> yes) >= quorum(), untilNanos);
    if (all) {
      long grace = System.nanoTime() + GRACE_NANOS;
      poll.awaitUninterruptibly(answers -> false, grace - untilNanos < 0 ? grace : untilNanos);
    }
    int done = 0;
    List<RuntimeException> failures = new ArrayList<>();
    List<@Nullable Answer<Boolean>> answers = poll.close(false, (place, late) -> {});
    for (int i = 0; i < nodes(); i++) {
      Answer<Boolean> answer = answers.get(i);
      if (answer != null && answer.value() != null) {
        done++;
      } else if (poll.isAsked(i) && answer == null) {
        failures.add(source.member(i).silent("has not answered yet", null));
      } else if (answer != null && answer.failure() != null) {
        failures.add(answer.failure());
      }
    }
    return new Asked(done, failures);
  }

  /** Releases a lease that nobody needs; what it has to say is not of interest any more. */
  static void releaseQuietly(OwnedLease lease) {
    try {
      lease.release();
    } catch (IllegalMonitorStateException | LockException e) {
      LOG.debug("given back: {}", lease, e);
    }
  }
}
