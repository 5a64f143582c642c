package io.mortise.core;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link Lock} that excludes the threads of all processes that use the same name on the same
 * Redis.
 *
 * <p><b>Owners.</b> The methods of {@code Lock}, and those like them here, make the calling thread
 * the owner: only it can unlock, and it may lock again (re-entry costs no round trip). The
 * <em>handle</em> methods {@code acquire}, {@code tryAcquire} and {@code acquireAsync} give a
 * {@link Lease} instead, which belongs to whoever has it, may be passed between threads, and is not
 * re-entrant. A lock object has no state of its own: two objects of one name and one client are the
 * same lock.
 *
 * <p><b>Leases.</b> A hold ends in Redis when its lease has run out, so that a crashed holder
 * blocks the others for no longer. Without a lease of the caller's, the client's default
 * ({@linkplain LockOptions#lease() 30 s}) applies, and it is renewed in the background until the
 * lock is released. With a lease of the caller's, the hold ends at its end, and nobody renews it. A
 * re-entry that needs longer than the hold has lengthens it; one that needs less changes nothing.
 *
 * <pre>{@code
 * lock.lock();
 * try {
 *   // the critical section
 * } finally {
 *   lock.unlock();
 * }
 *
 * try (Lease lease = lock.acquire(Duration.ofSeconds(5)).orElseThrow()) {
 *   store.write(row, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Waiting.</b> A wait covers everything: the queue inside this process, the attempts, the
 * subscription, the parking. A wait of zero is one attempt. Threads of one process wait in the
 * order in which they came; between processes there is no order, unless the lock is a fair one.
 * {@code false}, or an empty {@code Optional}, means that somebody else holds the lock, and nothing
 * else.
 *
 * <p><b>Errors.</b> When Redis cannot be used, a wait goes on and tries again until it ends; then,
 * and in {@code lock()} after {@linkplain LockOptions#outageTimeout() a patience of 10 s}, a {@link
 * LockException} says why. What cannot get better by waiting (a wrong password, a name in use by
 * another kind of lock) is thrown at once. After any error nothing is held: where Redis may have
 * granted the lock without the answer having arrived, the client keeps releasing it in the
 * background until the lease would have run out.
 *
 * <p><b>Interrupts.</b> An interruptible wait ends with an {@link InterruptedException}; at the
 * latest when the command that is on its way has been answered or has timed out. If that answer is
 * the lock, the method returns with it, and the interrupt status stands. Where a method is not
 * interruptible, the interrupt status is kept.
 *
 * <p><b>What is not guaranteed.</b> A holder that is suspended for longer than its lease is not
 * stopped by anybody: it learns of the loss when it runs again. Redis that loses acknowledged
 * writes (a failover to a replica that lagged, a restart without its data) may grant a lock twice.
 * In both cases the {@linkplain Lease#fencingToken() fencing token} lets the resource refuse the
 * late writer.
 *
 * <p><b>Memory.</b> Inside one JVM, what a thread did before unlocking <i>happens before</i> what
 * follows the next successful lock of the same name and client. Between JVMs there is no shared
 * memory; what one wrote to a data store the other sees by that store's rules.
 */
public interface DistributedLock extends Lock {

  /** The name under which the processes meet: the key in Redis. */
  String name();

  /**
   * Waits until the lock is held by the current thread. If this thread holds it already, the hold
   * count goes up by one.
   *
   * <p>An interrupt does not end the wait; the status is kept.
   *
   * @throws LockException if Redis cannot be used for longer than {@link
   *     LockOptions#outageTimeout()}, or the error is not one that passes, or the client is closed
   * @throws LeaseLostException if this thread holds the lock and its lease was lost
   */
  @Override
  void lock();

  /**
   * As {@link #lock()}, with a lease that nobody renews.
   *
   * @param lease at least 1 ms; when it has run out the lock is free for others
   * @throws IllegalArgumentException if the lease is shorter than 1 ms or longer than 365 days
   */
  void lock(Duration lease);

  /**
   * As {@link #lock()}, but an interrupt ends the wait.
   *
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /** As {@link #lockInterruptibly()}, with a lease that nobody renews. */
  void lockInterruptibly(Duration lease) throws InterruptedException;

  /**
   * Makes one attempt. If the lock is free, it is held by the current thread; if this thread holds
   * it already, the hold count goes up by one.
   *
   * @return false if somebody else holds the lock
   * @throws LockException if Redis cannot be used; nothing is held
   */
  @Override
  boolean tryLock();

  /**
   * As {@link #tryLock(Duration)}.
   *
   * @param time how long to wait; zero or less makes one attempt
   */
  @Override
  default boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(Durations.of(time, unit));
  }

  /**
   * Waits until the lock is held by the current thread, but not for longer than {@code wait}.
   *
   * @param wait zero makes one attempt; must not be negative
   * @return false if somebody else held the lock all the time
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   * @throws LockException if the wait ended while Redis could not be used; nothing is held
   */
  boolean tryLock(Duration wait) throws InterruptedException;

  /** As {@link #tryLock(Duration)}, with a lease that nobody renews. */
  boolean tryLock(Duration wait, Duration lease) throws InterruptedException;

  /**
   * Gives up one hold of the current thread; the last one releases the lock in Redis and wakes a
   * waiter.
   *
   * @throws LeaseLostException if this thread held the lock and its lease was lost before; says
   *     since when and why. The hold is given up nevertheless
   * @throws IllegalMonitorStateException if this thread does not hold the lock; says whether it
   *     never did or has released it already
   * @throws LockException if Redis could not confirm the release. The hold is given up
   *     nevertheless: the release is repeated in the background, and the message says when the
   *     lease has run out. With {@link LockException.Reason#IN_DOUBT} nothing is left to release,
   *     but the hold may have been lost before
   */
  @Override
  void unlock();

  /**
   * Not supported: a condition would have to wake threads of other processes.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  default Condition newCondition() {
    throw new UnsupportedOperationException(
        "lock '"
            + name()
            + "': a condition that reaches other processes is not available;"
            + " wait for the change where the data is, and lock again");
  }

  /**
   * Makes one attempt to get the lock as a handle.
   *
   * @return the hold, renewed until it is closed; empty if somebody else holds the lock
   * @throws LockException if Redis cannot be used; nothing is held
   */
  Optional<Lease> tryAcquire();

  /** As {@link #tryAcquire()}, with a lease that nobody renews. */
  Optional<Lease> tryAcquire(Duration lease);

  /**
   * Waits for the lock, as a handle, but not for longer than {@code wait}. The current thread does
   * not become the owner: if it holds the lock already it waits for itself.
   *
   * @param wait zero makes one attempt; must not be negative
   * @return the hold, renewed until it is closed; empty if somebody else held the lock all the time
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   * @throws LockException if the wait ended while Redis could not be used; nothing is held
   */
  Optional<Lease> acquire(Duration wait) throws InterruptedException;

  /** As {@link #acquire(Duration)}, with a lease that nobody renews. */
  Optional<Lease> acquire(Duration wait, Duration lease) throws InterruptedException;

  /**
   * As {@link #acquire(Duration)}, without a waiting thread of the caller's. Arguments are checked
   * at once, by the caller's thread; everything else completes the stage. Cancelling its future
   * ends the wait, and a lease that comes at the same moment is released. Stages that follow
   * without an executor of their own run on a thread of the client's: they must not block it for
   * long.
   */
  CompletionStage<Optional<Lease>> acquireAsync(Duration wait);

  /** As {@link #acquireAsync(Duration)}, with a lease that nobody renews. */
  CompletionStage<Optional<Lease>> acquireAsync(Duration wait, Duration lease);

  /**
   * The hold of the current thread, for its fencing token, its state and its listeners. Its {@code
   * close()} is for handles only and throws here: a thread's hold is given up by {@link #unlock()}.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  Lease lease();

  /** Whether anybody, in any process, holds the lock at this moment. One round trip. */
  boolean isLocked();

  /** Whether the current thread holds the lock and its lease has not been lost. No round trip. */
  boolean isHeldByCurrentThread();

  /** How often the current thread holds the lock; 0 if it does not, or its lease was lost. */
  int holdCount();

  /**
   * What is left of the lease of whoever holds the lock, by Redis' clock. One round trip.
   *
   * @return empty if nobody holds it; {@link LockOptions#MAX_LEASE} if the holder set no end
   */
  Optional<Duration> remainingLease();

  /**
   * Takes the lock from whoever holds it. The holder is not asked; it is told at its next renewal
   * or at its release ({@link LeaseLoss.Reason#FORCED}), and its fencing token is older than the
   * next holder's.
   *
   * <p>It is sent once. When its answer is lost nobody can tell whether it was done, and a second
   * one could hit whoever came next: then it throws, and the message says so.
   *
   * @return whether anybody held it
   * @throws LockException if Redis did not say that it is done
   */
  boolean forceUnlock();
}
