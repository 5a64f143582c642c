package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition of a majority, by the <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Redlock</a>
 * algorithm.
 *
 * <pre>
 *   turn among the threads of this process: {@link AttemptTurn}
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

  /**
   * For how long the one that has the turn may be without an answer, before the others ask without
   * it: at least that, and at least the budgets between two of its answers, which are a slice of
   * two and a round of three, if it waits for its votes, once more, and for its releases.
   */
  private static final long MIN_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int PATIENCE_BUDGETS = 5;

  private final LeaseSource source;
  private final QuorumMembers members;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final long budgetNanos;
  private final CallerWait wait;

  /**
   * What an error releases: the lease of the node that was waited for, until a round has taken it,
   * and the hold of the round that won.
   */
  private @Nullable OwnedLease waitedFor;

  /** The place of the node that was waited for. */
  private int waitedPlace;

  /** When the last round was answered, or the wait began. */
  private long answeredNanos;

  /** Consecutive rounds without enough answers; their start and the last failure follow. */
  private int failures;

  private long failingSinceNanos;
  private @Nullable LockException failure;

  QuorumAcquisition(
      LeaseSource source, QuorumMembers members, LeaseTerms terms, @Nullable Thread owner) {
    this.source = source;
    this.members = members;
    this.terms = terms;
    this.owner = owner;
    this.budgetNanos = members.budgetNanos(terms.leaseMillis());
    this.wait = new CallerWait(terms, source);
    this.answeredNanos = wait.startNanos();
  }

  Optional<OwnedLease> run() throws InterruptedException {
    try {
      Optional<OwnedLease> hold = terms.waitNanos() > 0 ? tryInTurn() : tryUntilDone(null);
      wait.restoreInterrupt(); // here too: a thread may refuse it, and has no hold then
      return hold;
    } catch (InterruptedException e) { // that of a round names no lock, that of a node its own
      throw CallerWait.interruption(source.name());
    } catch (RuntimeException | Error e) {
      OwnedLease lease = waitedFor;
      if (lease != null) {
        QuorumMember.releaseQuietly(lease); // harmless if the round has released it
      }
      throw e;
    } finally {
      wait.restoreInterrupt();
    }
  }

  private Optional<OwnedLease> tryInTurn() throws InterruptedException {
    try (AttemptTurn turn = new AttemptTurn(source.identity(), source::nanoTime)) {
      return tryUntilDone(turn);
    }
  }

  /**
   * Waits for the turn; at once over for the one that has it. At least half of the whole wait
   * remains for the nodes, whose answers decide how it ends.
   */
  private void await(AttemptTurn turn) throws InterruptedException {
    long waitedNanos = source.nanoTime() - wait.startNanos();
    turn.await(
        wait,
        terms.waitNanos() / 2 - waitedNanos,
        Math.max(MIN_PATIENCE_NANOS, PATIENCE_BUDGETS * budgetNanos));
  }

  /**
   * Asks until a round has won, or the wait is over.
   *
   * @param turn for which each round waits that does not begin with a lease; null for none
   */
  private Optional<OwnedLease> tryUntilDone(@Nullable AttemptTurn turn)
      throws InterruptedException {
    while (true) {
      if (waitedFor == null) { // a round with a first lease checks: it has to release it
        wait.checkInterrupt();
        if (turn != null) {
          await(turn);
        }
      }
      QuorumRound round = new QuorumRound(source, members, terms, owner);
      long nodeWait = waitedFor == null ? 0 : Math.min(budgetNanos / 2, wait.leftNanos());
      OwnedLease hold = round.run(waitedFor, waitedPlace, Math.max(0, nodeWait));
      waitedFor = hold; // an error before the caller has it releases it
      if (turn != null && (hold != null || round.failure() == null)) {
        turn.answered();
      }
      if (hold != null) {
        return Optional.of(hold);
      }
      record(round.failure());
      if (wait.leftNanos() <= 0) {
        if (failure != null && outweighsAnswers(failure)) {
          throw failure;
        }
        return Optional.empty();
      }
      if (failure == null) {
        waitAtNode(round.preferredWaitNode());
      } else {
        pauseAfterFailure(failure);
      }
    }
  }

  private void record(@Nullable LockException roundFailure) {
    if (roundFailure == null) {
      failures = 0;
      answeredNanos = source.nanoTime();
    } else if (failures++ == 0) {
      failingSinceNanos = source.nanoTime();
    }
    failure = roundFailure;
  }

  /**
   * Returns whether there was no answer for the longer part of the wait, or the failure is
   * permanent. A slow last round must not turn into an error if others have held the lock all the
   * time.
   */
  private boolean outweighsAnswers(LockException lastFailure) {
    return source.nanoTime() - answeredNanos >= answeredNanos - wait.startNanos()
        || !AggregateFailure.isTransient(lastFailure);
  }

  /** Waits at that node, while holding nothing, until it grants or the slice is over. */
  private void waitAtNode(int place) throws InterruptedException {
    long minSlice = Math.max(MIN_SLICE_NANOS, budgetNanos);
    long slice = minSlice + (long) (source.random() * minSlice);
    QuorumMember member = members.at(place);
    try {
      LeaseTerms sliceTerms =
          terms.waiting(Math.min(wait.leftNanos(), slice)).withOptions(member.source().options());
      waitedPlace = place;
      waitedFor = member.acquire(sliceTerms, owner).orElse(null);
    } catch (LockException e) {
      // The next round finds out whether the others make a majority without this node.
      wait.pause(FIRST_PAUSE_NANOS);
    }
  }

  private void pauseAfterFailure(LockException lastFailure) throws InterruptedException {
    if (!AggregateFailure.isTransient(lastFailure)
        || (terms.isUnbounded()
            && source.nanoTime() - failingSinceNanos
                >= source.options().outageTimeout().toNanos())) {
      throw lastFailure;
    }
    wait.pause(
        CallerWait.backoffNanos(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, failures, source.random()));
  }
}
