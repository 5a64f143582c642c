package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition of a majority.
 *
 * <pre>
 *   ballot: all nodes at once, no waiting -----------------------------------> majority
 *      |                                                                          ^
 *      +-- others hold too many: all given back; wait at the first node that is   |
 *      |   held, woken by its message; having that one, ballot for the others -+
 *      +-- too few answer: all given back; pause, growing, with jitter; ballot
 * </pre>
 *
 * <p><b>Why wait at one node:</b> if all waiters asked all nodes as soon as they are free, each
 * would get some and none enough, again and again. At one node there is one winner, and the others
 * hold nothing anywhere meanwhile. The wait there is cut into slices, because that node may die, or
 * be held by somebody who has no majority; after each a ballot looks at all of them again.
 *
 * <p><b>Threads.</b> Confined to the thread that waits; the nodes are asked by {@link QuorumRound}.
 * <b>What can go wrong where:</b> an interrupt, looked at before each ballot, ends a wait at once,
 * and the ballot gives back what it has got and what still comes. A lost reply is the node's client
 * to settle. A lease that ends meanwhile makes its node one that has not granted.
 */
final class QuorumAcquisition {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long LEAST_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int MOST_DOUBLINGS = 5;

  private final QuorumLeaseSource source;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final long startNanos = System.nanoTime();
  private boolean interrupted;

  /** When the last ballot was answered, or the wait began. */
  private long answeredNanos = startNanos;

  /** Ballots in a row that failed for want of answers, since when, and the last one's error. */
  private int failures;

  private long failingSinceNanos;
  private @Nullable LockException trouble;

  QuorumAcquisition(QuorumLeaseSource source, LeaseTerms terms, @Nullable Thread owner) {
    this.source = source;
    this.terms = terms;
    this.owner = owner;
    this.budgetNanos = source.budgetNanos(terms.leaseMillis());
  }

  Optional<OwnedLease> run() throws InterruptedException {
    try {
      return tryUntilDone();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Optional<OwnedLease> tryUntilDone() throws InterruptedException {
    Lead lead = null;
    while (true) {
      if (lead == null) {
        noteInterrupt(); // otherwise the ballot looks at it, which has the node to give back
      }
      QuorumRound ballot = new QuorumRound(source, terms, owner, budgetNanos);
      OwnedLease hold =
          ballot.run(lead, lead == null ? 0 : Math.max(0, Math.min(budgetNanos / 2, leftNanos())));
      if (hold != null) {
        return Optional.of(hold);
      }
      note(ballot.failure());
      if (leftNanos() <= 0) {
        if (trouble != null && prevails(trouble)) {
          throw trouble;
        }
        return Optional.empty();
      }
      lead = trouble == null ? waitAtFirst(ballot.preferredWaitNode()) : pauseAfterTrouble();
    }
  }

  private void note(@Nullable LockException problem) {
    if (problem == null) {
      failures = 0;
      answeredNanos = System.nanoTime();
    } else if (failures++ == 0) {
      failingSinceNanos = System.nanoTime();
    }
    trouble = problem;
  }

  /**
   * Whether there was no answer for the longer part of the wait, or the trouble will not pass. A
   * last ballot that was slow makes no error of a lock that others have held all the time.
   */
  private boolean prevails(LockException problem) {
    return System.nanoTime() - answeredNanos >= answeredNanos - startNanos
        || !AggregateFailure.isTransient(problem);
  }

  /**
   * A node that was waited for, and granted.
   *
   * @param place which
   * @param lease what it granted
   */
  record Lead(int place, OwnedLease lease) {}

  /** Waits at that node, with nothing in hand; null when the slice is over. */
  private @Nullable Lead waitAtFirst(int place) throws InterruptedException {
    long least = Math.max(LEAST_SLICE_NANOS, budgetNanos);
    long slice = least + ThreadLocalRandom.current().nextLong(least);
    try {
      LeaseTerms waiting =
          terms
              .waiting(Math.min(leftNanos(), slice))
              .withOptions(source.member(place).source().options());
      return source
          .member(place)
          .acquire(waiting, owner)
          .map(lease -> new Lead(place, lease))
          .orElse(null);
    } catch (LockException e) {
      // After it the next ballot finds out whether it can do without this node.
      pause(FIRST_PAUSE_NANOS);
      return null;
    }
  }

  private @Nullable Lead pauseAfterTrouble() throws InterruptedException {
    LockException problem = trouble;
    if (problem != null
        && (!AggregateFailure.isTransient(problem)
            || (terms.isUnbounded()
                && System.nanoTime() - failingSinceNanos
                    >= source.options().outageTimeout().toNanos()))) {
      throw problem;
    }
    long most = Math.min(MOST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(MOST_DOUBLINGS, failures));
    pause(most / 2 + ThreadLocalRandom.current().nextLong(most / 2));
    return null;
  }

  private void pause(long nanos) throws InterruptedException {
    long endNanos = System.nanoTime() + Math.min(nanos, leftNanos());
    while (true) {
      try {
        TimeUnit.NANOSECONDS.sleep(endNanos - System.nanoTime());
        return;
      } catch (InterruptedException e) {
        if (terms.interruptible()) {
          throw e;
        }
        interrupted = true;
      }
    }
  }

  private void noteInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      if (terms.interruptible()) {
        throw new InterruptedException(
            "interrupted while waiting for lock '" + source.name() + "'");
      }
      interrupted = true;
    }
  }

  private long leftNanos() {
    return terms.isUnbounded()
        ? LeaseTerms.FOREVER / 2
        : terms.waitNanos() - (System.nanoTime() - startNanos);
  }
}
