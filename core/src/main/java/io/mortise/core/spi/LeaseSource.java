package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where the leases of one lock come from: a protocol on an engine, or other sources together. A
 * {@link LeaseBackedLock} makes a {@link DistributedLock} of it. Immutable, and safe for any
 * thread.
 */
public interface LeaseSource {

  /** What two sources of the same lock have in common: equal for them, and for no others. */
  Object identity();

  /** The family in one word. */
  String kind();

  /** The name for callers and messages. */
  String name();

  /** The settings that apply when a caller does not say otherwise. */
  LockOptions options();

  /** What stands in Redis for it: two locks that share one of these exclude each other. */
  Set<LockKey> places();

  /** The servers on which it stands. */
  default Set<LockServer> nodes() {
    return places().stream()
        .map(LockKey::node)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /**
   * Waits for the lock.
   *
   * @param owner the thread that will own the hold; when it dies the hold is not renewed any more.
   *     Null for a handle
   * @return the hold, renewed if the terms say so; empty when somebody else held the lock all the
   *     time
   * @throws InterruptedException if the terms say that an interrupt ends the wait, and there was
   *     one; nothing is held
   * @throws io.mortise.core.LockException if Redis could not be used; nothing is held
   */
  Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException;

  /** The lease as its user gets it, who alone has it. */
  default Lease guard(OwnedLease lease) {
    return new LeakDetectingLease(lease, options().traceLeases());
  }

  /**
   * As {@link #acquire}, for the calling thread, which will give up the hold itself. To be called
   * by {@link ThreadOwnership} alone.
   */
  default Optional<OwnedLease> acquireForThread(LeaseTerms terms) throws InterruptedException {
    return acquire(terms, Thread.currentThread());
  }

  /** Whether it matters to this lock what else its thread holds on the same server. */
  default boolean dependsOnCaller() {
    return false;
  }

  /**
   * Why the calling thread would wait for itself, and what to do instead; empty when it would not.
   */
  default Optional<String> selfDeadlock() {
    return Optional.empty();
  }

  /**
   * The source for an acquisition that the calling thread begins, and another thread waits for:
   * what the caller holds counts as it does at this moment.
   */
  default LeaseSource boundToCaller() {
    return this;
  }

  /**
   * Runs a task that may wait, on a thread of the client's.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the client was closed
   */
  Future<?> submit(Runnable task);

  /**
   * Runs a short task later, on a thread of the client's; never, if the client is closed first.
   *
   * @return takes the task back, if it has not begun
   * @throws java.util.concurrent.RejectedExecutionException if the client was closed
   */
  Runnable schedule(Runnable task, long delayNanos);

  /**
   * What is left of the lease of whoever holds the lock.
   *
   * @return empty if nobody does
   */
  Optional<Duration> remainingLease();

  /** Whether both can be taken by one script; see {@link #acquireTogether}. */
  default boolean joins(LeaseSource other) {
    return false;
  }

  /**
   * Makes one attempt to take all of these locks, or none, in one round trip.
   *
   * @param sources different locks, this one the first, that it {@link #joins}
   * @param terms its wait is for how long the answer may take; zero for the client's time-out
   * @param owner the thread that will own the holds, or null
   * @throws io.mortise.core.LockException if Redis could not be used; none is held
   * @throws InterruptedException if the thread was interrupted before, and the terms say that this
   *     ends a wait
   */
  default GroupAttemptResult acquireTogether(
      List<? extends LeaseSource> sources, LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    throw new UnsupportedOperationException(this + " joins no other lock");
  }

  /** Takes the lock from whoever holds it; whether anybody did. */
  boolean forceUnlock();
}
