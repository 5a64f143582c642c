package io.mortise.red;

import io.mortise.core.LockException;
import io.mortise.core.spi.JointLease;
import io.mortise.core.spi.OwnedLease;
import io.mortise.red.Poll.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A hold that stands while a majority of the nodes has it. */
final class QuorumHold extends JointLease implements QuorumLease {
  private static final Logger LOG = LoggerFactory.getLogger(RedLock.class);

  /** How long a release waits for the last nodes, once a majority has confirmed it. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final RedSource source;
  private final long budgetNanos;
  private final Retaking retaking;

  /**
   * @param leases by place; null where the node has not granted one
   * @param budgetNanos for how long a node may take to answer
   */
  QuorumHold(
      RedSource source,
      List<? extends @Nullable OwnedLease> leases,
      long token,
      @Nullable Thread owner,
      Retaking retaking,
      long budgetNanos) {
    super(source, leases, source.quorum(), token, owner);
    this.source = source;
    this.budgetNanos = budgetNanos;
    this.retaking = retaking;
    retaking.begin(this);
    watch();
    for (int i = 0; i < leases.size(); i++) {
      if (leases.get(i) == null) {
        retaking.miss(i, null);
      }
    }
  }

  @Override
  public int nodesHolding() {
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

  /**
   * A node has granted a lease after the hold had begun.
   *
   * @param expected what stood in its place until now
   * @return false when it could not join, and was given back
   */
  boolean joinLate(int place, @Nullable OwnedLease expected, OwnedLease lease) {
    boolean joined = false;
    try {
      joined = lease.raiseToken(fencingToken()) && join(place, expected, lease);
    } catch (LockException e) {
      LOG.debug("lock '{}': {} cannot join", lockName(), source.member(place), e);
    } finally {
      if (joined) {
        retaking.taken(place);
      } else {
        quietly(lease);
        retaking.miss(place, expected);
      }
    }
    return joined;
  }

  /** As {@link #joinLate}, on a thread of the node's client: whoever has the hold need not wait. */
  void joinSoon(int place, OwnedLease lease) {
    Poll<Boolean> joining = source.poll();
    joining.ask(place, () -> joinLate(place, null, lease));
    joining.end(false, (late, joined) -> {});
  }

  @Override
  protected void lostMember(int place, OwnedLease member) {
    quietly(member);
    if (member(place) == member && retaking.miss(place, member)) {
      LOG.warn(
          "lock '{}': {} does not hold it any more; {} of {} nodes do",
          lockName(),
          source.member(place),
          nodesHolding(),
          nodes());
    }
  }

  @Override
  protected void lost() {
    retaking.end();
    try {
      var unused = source.submit(() -> giveBack(members()));
    } catch (RejectedExecutionException closed) {
      giveBack(members());
    }
  }

  @Override
  protected List<RuntimeException> giveBack(List<OwnedLease> held) {
    retaking.end();
    return atOnce(OwnedLease::release, true);
  }

  @Override
  protected List<RuntimeException> each(Consumer<OwnedLease> action) {
    return atOnce(action, false);
  }

  /**
   * Does something with all members at the same time.
   *
   * @param all whether to give all of them the time to end, and not only the majority
   */
  private List<RuntimeException> atOnce(Consumer<OwnedLease> action, boolean all) {
    Poll<Boolean> poll = source.poll();
    for (int i = 0; i < nodes(); i++) {
      OwnedLease lease = member(i);
      if (lease != null) {
        poll.ask(
            i,
            () -> {
              action.accept(lease);
              return true;
            });
      }
    }
    long untilNanos = System.nanoTime() + budgetNanos;
    poll.awaitUninterruptibly(answers -> answers.count(done -> done) >= quorum(), untilNanos);
    if (all) {
      long grace = System.nanoTime() + GRACE_NANOS;
      poll.awaitUninterruptibly(answers -> false, grace - untilNanos < 0 ? grace : untilNanos);
    }
    List<RuntimeException> failures = new ArrayList<>();
    List<@Nullable Answer<Boolean>> answers = poll.end(false, (place, done) -> {});
    for (int i = 0; i < nodes(); i++) {
      Answer<Boolean> answer = answers.get(i);
      if (poll.isAsked(i) && answer == null) {
        failures.add(poll.silent(i, "has not answered yet", null));
      } else if (answer != null && answer.failure() != null) {
        failures.add(answer.failure());
      }
    }
    return failures;
  }

  /** Releases a lease that nobody needs; what it has to say is not of interest any more. */
  static void quietly(OwnedLease lease) {
    try {
      lease.release();
    } catch (IllegalMonitorStateException | LockException e) {
      LOG.debug("given back: {}", lease, e);
    }
  }
}
