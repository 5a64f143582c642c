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
 * One acquisition of a majority, by the <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Redlock</a>
 * algorithm.
 *
 * <pre>
 *   round: all nodes together, no waiting -----------------------------------> majority
 *      |                                                                          ^
 *      +-- others hold too many: all released; wait at the first node that is     |
 *      |   held, until its message arrives; with that one, a round of the others -+
 *      +-- too few answer: all released; pause, growing, with jitter; round
 * </pre>
 *
 * <p><b>Why a waiter waits at one node:</b> if all waiters asked all nodes as soon as these are
 * free, each would repeatedly get some nodes and none a majority. At one node there is one winner,
 * and the other waiters hold nothing on any node in the meantime. The wait is cut into slices,
 * because that node may die, or be held by a client without a majority; after each slice a round
 * asks all nodes again.
 *
 * <p><b>Failures.</b> An interrupt, checked before each round, ends a wait immediately, and the
 * round releases what it was granted and what is granted later. A lost reply is handled by the
 * client of the node. A lease that ends during the round makes its node one that has not granted.
 *
 * <p><b>Threads.</b> Confined to the thread that waits; {@link QuorumRound} asks the nodes.
 */
final class QuorumAcquisition {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MIN_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int MAX_DOUBLINGS = 5;

  private final QuorumLeaseSource source;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final long startNanos = System.nanoTime();
  private boolean interrupted;

  /** When the last round was answered, or the wait began. */
  private long answeredNanos = startNanos;

  /** Consecutive rounds without enough answers; their start and the last failure follow. */
  private int failures;

  private long failingSinceNanos;
  private @Nullable LockException failure;

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
    FirstGrant first = null;
    while (true) {
      if (first == null) {
        checkInterrupt(); // a round with a first grant checks: it has to release it
      }
      QuorumRound round = new QuorumRound(source, terms, owner, budgetNanos);
      OwnedLease hold =
          round.run(first, first == null ? 0 : Math.max(0, Math.min(budgetNanos / 2, leftNanos())));
      if (hold != null) {
        return Optional.of(hold);
      }
      record(round.failure());
      if (leftNanos() <= 0) {
        if (failure != null && outweighsAnswers(failure)) {
          throw failure;
        }
        return Optional.empty();
      }
      first = failure == null ? waitAtNode(round.preferredWaitNode()) : pauseAfterFailure();
    }
  }

  private void record(@Nullable LockException roundFailure) {
    if (roundFailure == null) {
      failures = 0;
      answeredNanos = System.nanoTime();
    } else if (failures++ == 0) {
      failingSinceNanos = System.nanoTime();
    }
    failure = roundFailure;
  }

  /**
   * Returns whether there was no answer for the longer part of the wait, or the failure is
   * permanent. A slow last round must not turn into an error if others have held the lock all the
   * time.
   */
  private boolean outweighsAnswers(LockException lastFailure) {
    return System.nanoTime() - answeredNanos >= answeredNanos - startNanos
        || !AggregateFailure.isTransient(lastFailure);
  }

  /**
   * The grant of the node at which the acquisition waited.
   *
   * @param place the place of the node
   * @param lease the lease that it granted
   */
  record FirstGrant(int place, OwnedLease lease) {}

  /** Waits at that node, while holding nothing; returns null when the slice is over. */
  private @Nullable FirstGrant waitAtNode(int place) throws InterruptedException {
    long minSlice = Math.max(MIN_SLICE_NANOS, budgetNanos);
    long slice = minSlice + ThreadLocalRandom.current().nextLong(minSlice);
    try {
      LeaseTerms sliceTerms =
          terms
              .waiting(Math.min(leftNanos(), slice))
              .withOptions(source.member(place).source().options());
      return source
          .member(place)
          .acquire(sliceTerms, owner)
          .map(lease -> new FirstGrant(place, lease))
          .orElse(null);
    } catch (LockException e) {
      // The next round finds out whether the others make a majority without this node.
      pause(FIRST_PAUSE_NANOS);
      return null;
    }
  }

  private @Nullable FirstGrant pauseAfterFailure() throws InterruptedException {
    LockException lastFailure = failure;
    if (lastFailure != null
        && (!AggregateFailure.isTransient(lastFailure)
            || (terms.isUnbounded()
                && System.nanoTime() - failingSinceNanos
                    >= source.options().outageTimeout().toNanos()))) {
      throw lastFailure;
    }
    long maxPause =
        Math.min(MAX_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(MAX_DOUBLINGS, failures));
    pause(maxPause / 2 + ThreadLocalRandom.current().nextLong(maxPause / 2));
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

  private void checkInterrupt() throws InterruptedException {
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
