package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.core.LockInspection;
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
 * The source of the leases of one lock: a protocol with a client, or a composition of other
 * sources. A {@link LeaseBackedLock} makes a {@link io.mortise.core.DistributedLock} of it.
 *
 * <p><b>Threads.</b> An implementation is immutable; any thread may call it.
 */
public interface LeaseSource {

  /** Returns the identity of the lock: equal for two sources of the same lock, and no others. */
  Object identity();

  /** Returns the lock family, in a few lower-case words, as {@code LockEvent.lockKind} shows it. */
  String kind();

  /** Returns the name for callers and messages. */
  String name();

  /** Returns the options that apply unless the caller gives others. */
  LockOptions options();

  /**
   * Returns the time of the clock by which this lock measures its waits and leases, in nanoseconds;
   * only differences mean something, as with {@link System#nanoTime()}.
   */
  long nanoTime();

  /** Returns a random number from 0 inclusive to 1 exclusive, for the pauses between attempts. */
  double random();

  /** Returns the keys of the lock in Redis: two locks that share a key exclude each other. */
  Set<LockKey> keys();

  /** Returns the deployments that have the keys of the lock. */
  default Set<RedisDeployment> deployments() {
    return keys().stream()
        .map(LockKey::deployment)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /**
   * Waits for the lock.
   *
   * @param owner the thread that will own the hold; when it dies the hold is not renewed any more.
   *     Null for a handle
   * @return the hold, renewed if the terms say so; empty when others held the lock all the time
   * @throws InterruptedException if the terms say that an interrupt ends the wait, and there was
   *     one; nothing is held
   * @throws io.mortise.core.LockException if Redis could not be used; nothing is held
   */
  Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException;

  /** Returns the lease object for the user, who has the only reference to it. */
  default Lease guard(OwnedLease lease) {
    return new LeakDetectingLease(lease, options().traceLeases(), this::execute);
  }

  /**
   * As {@link #acquire}, for the calling thread, which will release the hold itself. Only {@link
   * ThreadOwnership} calls it.
   */
  default Optional<OwnedLease> acquireForThread(LeaseTerms terms) throws InterruptedException {
    return acquire(terms, Thread.currentThread());
  }

  /** Returns what decides how long the callers of this lock wait. */
  default WaitPolicy waitPolicy() {
    return WaitPolicy.AS_ASKED;
  }

  /** Returns whether this lock depends on what else its thread holds on the same server. */
  default boolean dependsOnCaller() {
    return false;
  }

  /**
   * Returns why the calling thread would wait for itself, and what to do instead; empty when it
   * would not.
   */
  default Optional<String> selfDeadlock() {
    return Optional.empty();
  }

  /**
   * Returns the same for an acquisition that makes the thread the owner: it re-enters a member that
   * the thread holds, and does not wait for it.
   */
  default Optional<String> selfDeadlockAsOwner() {
    return selfDeadlock();
  }

  /**
   * Returns the source for an acquisition that the calling thread begins and another thread waits
   * for: the holds of the caller at this moment count.
   */
  default LeaseSource boundToCaller() {
    return this;
  }

  /**
   * Runs a task that may block, on a thread of the client.
   *
   * @throws java.util.concurrent.RejectedExecutionException if the client was closed
   */
  Future<?> submit(Runnable task);

  /** As {@link #submit}, for a task that is not cancelled. */
  default void execute(Runnable task) {
    var unused = submit(task);
  }

  /**
   * Notifies the user of a hold of its change soon, on a thread of the client. A client that can
   * start no thread does so later, at its close at the latest.
   *
   * @param notification may block
   */
  default void notifyUser(Runnable notification) {
    execute(notification);
  }

  /**
   * Writes a line of the log soon, on the one thread that does so for all holds of a client: a log
   * may block, and a client may lose all of its holds at once.
   */
  default void log(Runnable line) {
    execute(line);
  }

  /**
   * Notifies a hold that depends on another one of its change, on one of a few threads that all
   * holds of a client share.
   *
   * @param notification does not block
   */
  default void notifyDependent(Runnable notification) {
    execute(notification);
  }

  /** Returns whether the client, or each of the clients, was closed. */
  default boolean isClosed() {
    return false;
  }

  /**
   * Runs a short task later, on a thread of the client; never, if the client is closed first.
   *
   * @return cancels the task, if it has not begun
   * @throws java.util.concurrent.RejectedExecutionException if the client was closed
   */
  Runnable schedule(Runnable task, long delayNanos);

  /**
   * Returns the remaining lease of the lock's holder.
   *
   * @return empty if the lock is not held
   */
  Optional<Duration> remainingLease();

  /**
   * Returns who holds the lock and who waits for it.
   *
   * @throws io.mortise.core.LockException if Redis cannot be used, or the key is no lock
   */
  LockInspection inspect();

  /** Returns whether one script can acquire both; see {@link #acquireTogether}. */
  default boolean canAcquireTogetherWith(LeaseSource other) {
    return false;
  }

  /**
   * Makes one attempt to acquire all of these locks, or none, in one round trip.
   *
   * @param sources different locks that this one {@link #canAcquireTogetherWith}, itself the first
   * @param terms the terms, whose wait is how long the reply may take; zero for the client's
   *     timeout
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

  /** Releases the lock by force, regardless of its holder; returns whether it was held. */
  boolean forceUnlock();
}
