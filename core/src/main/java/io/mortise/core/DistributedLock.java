package io.mortise.core;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Lock} that excludes the threads of all processes that use the same name on the same
 * Redis.
 *
 * <p><b>Owners.</b> The methods of {@code Lock}, and those like them here, make the calling thread
 * the owner: only it can unlock, and it may lock again (re-entry costs no round trip, unless it
 * asks for a longer lease than the hold has left). The <em>handle</em> methods {@code acquire},
 * {@code tryAcquire} and {@code acquireAsync} return a {@link Lease} instead, which belongs to no
 * thread, may be passed between threads, and is not re-entrant. A lock object has no state: two
 * objects of one family, name and client are the same lock.
 *
 * <p><b>Leases.</b> A hold ends in Redis when its lease has run out, so that a crashed holder
 * blocks the others for at most that time. Unless the caller gives a lease, the client's default
 * ({@linkplain LockOptions#lease() 30 s}) applies, and it is renewed in the background until the
 * lock is released. A lease given by the caller, to {@link #withLease} or beside a wait, is not
 * renewed: the hold ends with it. A re-entry that needs a longer lease than the hold has extends
 * it; one that needs a shorter lease changes nothing. A duration that stands alone is always a
 * wait. A lock with a {@linkplain #atLeast minimum} stays busy for that time, also if it is
 * released earlier.
 *
 * <pre>{@code
 * lock.lock();
 * try {
 *   // the critical section
 * } finally {
 *   lock.unlock();
 * }
 *
 * lock.withLock(() -> {
 *   // the critical section
 * });
 *
 * try (Lease lease = lock.acquire()) { // a handle: may be passed to another thread
 *   store.write(row, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Waiting.</b> A wait covers everything: the queue inside this process, the attempts, the
 * subscription, the parking. A wait of zero, or a negative one, is one attempt. Threads of one
 * process wait in the order of arrival; between processes there is no order, unless the lock is
 * fair. {@code false}, or an empty {@code Optional}, means that the lock is busy, and never that
 * Redis failed: another owner holds it, its {@linkplain #atLeast minimum} is not over, or it is the
 * turn of others that wait (for a fair or a read-write lock).
 *
 * <p><b>Errors.</b> When Redis cannot be used, a wait goes on and tries again until it ends; then,
 * and in {@code lock()} after {@linkplain LockOptions#outageTimeout() an outage timeout of 10 s}, a
 * {@link LockException} says why. A permanent error (a wrong password, a name in use by another
 * kind of lock) is thrown immediately. After any error nothing is held: where Redis may have
 * granted the lock without the answer having arrived, the client keeps releasing it in the
 * background until the lease would have run out.
 *
 * <p><b>Interrupts.</b> An interruptible wait ends with an {@link InterruptedException}, at the
 * latest when the command in progress has been answered or has timed out. If that answer grants the
 * lock, the method returns with it, and the interrupt status stays set. Where a method is not
 * interruptible, the interrupt status is kept.
 *
 * <p><b>What is not guaranteed.</b> Nothing stops a holder that is suspended for longer than its
 * lease: it learns of the loss when it runs again. Redis that loses acknowledged writes (a failover
 * to a replica that lagged, a restart without its data) may grant a lock twice. In both cases the
 * {@linkplain Lease#fencingToken() fencing token} lets the resource refuse the late writer.
 *
 * <p><b>Memory.</b> Inside one JVM, what a thread did before unlocking <i>happens before</i> what
 * follows the next successful lock of the same name and client. Between JVMs there is no shared
 * memory; writes of one to a data store are visible to the other by the rules of that store.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@code unlock}, {@code lease}, {@code
 * holdCount} and {@code isHeldByCurrentThread} refer to the calling thread.
 *
 * <p>Not to be implemented by users, except to decorate another lock: later versions may have more
 * methods. A new lock family extends {@code io.mortise.core.spi.LeaseBackedLock}.
 */
public interface DistributedLock extends Lock {

  /**
   * Returns the name that the processes share: the key in Redis. It begins with the client's {@link
   * LockOptions#namespace()}, so it is not the name to make the same lock with.
   */
  String name();

  /**
   * Returns a view of this lock whose acquisitions have this lease and are not renewed, unless a
   * method is given another lease. It is the same lock: it is equal to this one, and a thread that
   * holds one of the two holds the other. A {@code MultiLock} or {@code RedLock} of such views has
   * the lease that it is given itself.
   *
   * @param lease at least 1 ms; when it has run out the lock is free for others
   * @throws IllegalArgumentException if the lease is shorter than 1 ms or longer than 365 days, or
   *     shorter than the {@linkplain #atLeast minimum} of this view
   */
  DistributedLock withLease(Duration lease);

  /**
   * Returns a view of this lock that stays busy for at least this time after each acquisition. A
   * release before the end of the minimum gives the hold up at once, and leaves the rest of the
   * minimum in Redis: until it is over nobody acquires the lock, the thread that released it
   * included; after a read hold no writer does, and readers go on entering. So a job that several
   * processes start at the same time runs once, if the job and the difference of their clocks are
   * both shorter than the time between two starts:
   *
   * <pre>{@code
   * DistributedLock once = lock.withLease(Duration.ofMinutes(10)).atLeast(Duration.ofSeconds(30));
   * if (once.tryLock()) {
   *   try {
   *     runTheJob();
   *   } finally {
   *     once.unlock(); // others get the lock 30 s after it was acquired, or now if that is later
   *   }
   * }
   * }</pre>
   *
   * <p>The minimum begins before the request that acquires the lock. A re-entry with a minimum
   * begins its own; the latest end counts. Views combine in any order: this one keeps the lease of
   * the lock that it is made of. It is the same lock, as with {@link #withLease}. A {@code
   * MultiLock} or {@code RedLock} of such views has the minimum that it is given itself.
   *
   * <p><b>After the release</b> the thread, or the handle, holds nothing: no renewal, no listener,
   * no loss. {@link #isLocked()}, {@link #remainingLease()} and {@link #inspect()} show the rest,
   * and {@link #forceUnlock()} ends it. {@link LockClient#close()} leaves it, as a release does.
   *
   * <p><b>To keep a lock busy for exactly {@code d}</b>, use {@code lock.withLease(d).atLeast(d)},
   * and release it when the work is done, or at once: the lock stays in Redis until {@code d} is
   * over, and that is no loss. A hold that is <em>not</em> released when its lease ends is lost,
   * and reported, with every minimum.
   *
   * <p><b>What is not guaranteed.</b> A hold that is never released ends with its lease, also if
   * the minimum is longer: its process or thread has died, its {@code Lease} was dropped, it
   * reached {@link LockOptions#maxHold()}, or Redis cannot be reached any more. After the loss of a
   * {@code MultiLock} or {@code RedLock} the members that are still held stay for the rest of the
   * minimum; and so may a shared read hold in a {@code MultiLock} whose {@link #acquireAsync} is
   * cancelled at the moment of its grant.
   *
   * @param minimum zero for none
   * @throws IllegalArgumentException if it is negative or longer than 365 days, or longer than a
   *     lease that is not renewed: that of this view, or the one beside a wait
   */
  DistributedLock atLeast(Duration minimum);

  /**
   * Returns the lock itself, without decorators: a decorator returns that of the lock that it
   * decorates. A {@code MultiLock} or {@code RedLock} of decorated locks uses the undecorated ones.
   */
  default DistributedLock undecorated() {
    return this;
  }

  /**
   * Waits until the lock is held by the current thread. If this thread holds it already, the hold
   * count goes up by one.
   *
   * <p>An interrupt does not end the wait; the status is kept.
   *
   * @throws LockException if Redis cannot be used for longer than {@link
   *     LockOptions#outageTimeout()}, or the error is permanent, or the client is closed
   * @throws LeaseLostException if this thread held the lock, lost it, and does not know of that
   *     yet: once, then it may lock again. It knows as soon as an exception, or a hold count of 0,
   *     has told it
   * @throws IllegalStateException if this thread would wait for itself, as a reader that asks for
   *     the write lock
   */
  @Override
  void lock();

  /**
   * As {@link #lock()}, but an interrupt ends the wait.
   *
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /**
   * Makes one attempt. If the lock is free, it is held by the current thread; if this thread holds
   * it already, the hold count goes up by one.
   *
   * @return false if the lock is busy
   * @throws LockException if Redis cannot be used; nothing is held
   * @throws LeaseLostException as by {@link #lock()}
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
   * @param wait zero or less makes one attempt
   * @return false if the lock was busy all the time
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   * @throws LockException if the wait ended while Redis could not be used; nothing is held
   * @throws LeaseLostException as by {@link #lock()}
   * @throws IllegalStateException as by {@link #lock()}, if {@code wait} is more than zero
   */
  boolean tryLock(Duration wait) throws InterruptedException;

  /**
   * As {@link #tryLock(Duration)}, with a lease that is not renewed.
   *
   * @throws IllegalArgumentException if the lease is shorter than 1 ms or longer than 365 days
   */
  boolean tryLock(Duration wait, Duration lease) throws InterruptedException;

  /**
   * As {@link #tryLock(Duration, Duration)}, in the form of Redisson's {@code RLock}.
   *
   * @param wait how long to wait; zero or less makes one attempt
   * @param lease the lease; -1 for that of this lock: the client's default, which is renewed, or
   *     that of {@link #withLease}
   * @throws IllegalArgumentException if the lease is another one below 1 ms, or longer than 365
   *     days
   */
  default boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
    return lease == -1
        ? tryLock(Durations.of(wait, unit))
        : tryLock(Durations.of(wait, unit), Durations.of(lease, unit));
  }

  /**
   * Decrements the hold count of the current thread; at zero the lock is released in Redis and a
   * waiter is woken. Before the end of a {@linkplain #atLeast minimum} the lock stays busy.
   *
   * @throws LeaseLostException if this thread held the lock and its lease was lost before; says
   *     since when and why. The hold count is decremented nevertheless
   * @throws IllegalMonitorStateException if this thread does not hold the lock; says whether it
   *     never did or has released it already
   * @throws LockException if Redis could not confirm the release. The hold count is decremented
   *     nevertheless: the release is repeated in the background, and the message says when the
   *     lease has run out. With {@link LockException.Reason#IN_DOUBT} nothing is left to release,
   *     but the hold may have been lost before
   */
  @Override
  void unlock();

  /**
   * Runs the body while the current thread holds the lock: {@link #lock()}, the body, {@link
   * #unlock()}. An exception of the body is thrown; if {@code unlock} throws too, for example
   * because the lease was lost, its exception is suppressed in that of the body.
   *
   * @throws LeaseLostException if the lease was lost before the body ended
   * @throws LockException as {@link #lock()} and {@link #unlock()} throw it: the body may have run
   */
  default void withLock(Runnable body) {
    Objects.requireNonNull(body, "body");
    Held held = this::unlock;
    lock();
    try (held) {
      body.run();
    }
  }

  /**
   * As {@link #withLock(Runnable)}, and returns the result of the body. A lambda expression with a
   * value is taken for a {@code Callable}, as by {@code ExecutorService.submit}.
   *
   * @throws Exception any exception of the body
   */
  default <T extends @Nullable Object> T withLock(Callable<T> body) throws Exception {
    Objects.requireNonNull(body, "body");
    Held held = this::unlock;
    lock();
    try (held) {
      return body.call();
    }
  }

  /**
   * As {@link #withLock(Callable)}; the body receives the hold, for its fencing token and its
   * state, and has to return a value, which may be null.
   *
   * @throws Exception any exception of the body
   */
  default <T extends @Nullable Object> T withLock(LeaseCallable<T> body) throws Exception {
    Objects.requireNonNull(body, "body");
    Held held = this::unlock;
    lock();
    try (held) {
      return body.call(lease());
    }
  }

  /**
   * As {@link #withLock(Runnable)}, but the wait is not longer than {@code wait}; see {@link
   * #tryLock(Duration)}.
   *
   * @return whether the body has run; false if the lock was busy all the time
   * @throws InterruptedException if the thread is interrupted before it has the lock; the body has
   *     not run
   */
  default boolean tryWithLock(Duration wait, Runnable body) throws InterruptedException {
    Objects.requireNonNull(body, "body");
    Held held = this::unlock;
    if (!tryLock(wait)) {
      return false;
    }
    try (held) {
      body.run();
      return true;
    }
  }

  /**
   * As {@link #withLock(LeaseCallable)}, but the wait is not longer than {@code wait}; see {@link
   * #tryLock(Duration)}.
   *
   * @param body returns a value that is not null
   * @return that value; empty if the lock was busy all the time
   * @throws Exception any exception of the body, or an {@link InterruptedException} if the thread
   *     is interrupted before it has the lock
   */
  default <T> Optional<T> tryWithLock(Duration wait, LeaseCallable<T> body) throws Exception {
    Objects.requireNonNull(body, "body");
    Held held = this::unlock;
    if (!tryLock(wait)) {
      return Optional.empty();
    }
    try (held) {
      return Optional.of(body.call(lease()));
    }
  }

  /** A task that needs the hold of the lock under which it runs. */
  @FunctionalInterface
  interface LeaseCallable<T extends @Nullable Object> {
    /** Runs the task. */
    T call(Lease lease) throws Exception;
  }

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
   * Makes one attempt to acquire the lock as a handle.
   *
   * @return the hold, renewed until it is closed; empty if the lock is busy
   * @throws LockException if Redis cannot be used; nothing is held
   */
  Optional<Lease> tryAcquire();

  /**
   * Waits for the lock, as a handle. The current thread does not become the owner: if it holds the
   * lock already it would wait for itself.
   *
   * @return the hold, renewed until it is closed
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   * @throws LockException if Redis cannot be used for longer than {@link
   *     LockOptions#outageTimeout()}, or the error is permanent, or the client is closed
   * @throws IllegalStateException if this thread would wait for itself, as a reader that asks for
   *     the write lock
   */
  Lease acquire() throws InterruptedException;

  /**
   * Waits for the lock, as a handle, but not for longer than {@code wait}. The current thread does
   * not become the owner: if it holds the lock already it waits for itself.
   *
   * @param wait zero or less makes one attempt
   * @return the hold, renewed until it is closed; empty if the lock was busy all the time
   * @throws InterruptedException if the thread is interrupted before it has the lock; nothing is
   *     held
   * @throws LockException if the wait ended while Redis could not be used; nothing is held
   * @throws IllegalStateException as by {@link #acquire()}, if {@code wait} is more than zero
   */
  Optional<Lease> acquire(Duration wait) throws InterruptedException;

  /** As {@link #acquire(Duration)}, with a lease that is not renewed. */
  Optional<Lease> acquire(Duration wait, Duration lease) throws InterruptedException;

  /**
   * As {@link #acquire()}, without blocking a thread of the caller; the stage behaves as that of
   * {@link #acquireAsync(Duration)}.
   */
  CompletionStage<Lease> acquireAsync();

  /**
   * As {@link #acquire(Duration)}, without blocking a thread of the caller. Arguments are checked
   * immediately, on the caller's thread; every other result completes the stage. Cancelling its
   * future ends the wait, and a lease that is granted at the same moment is released; so does
   * completing the future in another way, as {@code orTimeout} does. A time-out of a
   * <em>dependent</em> stage does not end the wait: a lease that nobody receives is then released
   * when the garbage collector finds it. Dependent stages without their own executor run on a
   * thread of the client: they must not block it for long.
   */
  CompletionStage<Optional<Lease>> acquireAsync(Duration wait);

  /** As {@link #acquireAsync(Duration)}, with a lease that is not renewed. */
  CompletionStage<Optional<Lease>> acquireAsync(Duration wait, Duration lease);

  /**
   * Returns the hold of the current thread, for its fencing token, its state and its listeners. Its
   * {@code close()} and {@code releaseAsync()} are for handles only, and fail here with an {@link
   * IllegalMonitorStateException}: a thread releases its hold by {@link #unlock()}.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  Lease lease();

  /** Returns whether the lock is held at this moment, in any process. One round trip. */
  boolean isLocked();

  /**
   * Returns whether the current thread holds the lock and has not lost it. No round trip. {@link
   * #unlock()} says why a hold was lost; a thread that does not call it may lock again all the
   * same. A decorator asks {@code io.mortise.core.spi.CurrentHold} instead, so that the thread is
   * told of a loss by its next {@code lock()}.
   */
  boolean isHeldByCurrentThread();

  /**
   * Returns how often the current thread holds the lock; 0 if it does not, or lost its lease; see
   * {@link #isHeldByCurrentThread()}.
   */
  int holdCount();

  /**
   * Returns the remaining lease of the holder, by Redis' clock. One round trip.
   *
   * @return empty if the lock is not held; {@link LockOptions#MAX_LEASE} if the holder set no end
   */
  Optional<Duration> remainingLease();

  /**
   * Returns who holds the lock and who waits for it, in all processes, as far as Redis knows. One
   * round trip for the lock, and one for the records of the clients. Changes nothing.
   *
   * <p>Of a {@code MultiLock} or {@code RedLock} the members are inspected; one that cannot be
   * asked says why, and does not hide the others.
   *
   * @throws LockException if Redis cannot be used, the user lacks a right to read (see "Rights" in
   *     {@code docs/wire.md}), or the key is no lock
   */
  LockInspection inspect();

  /**
   * Releases the lock by force, regardless of its holder. The holder is not asked; it is notified
   * at its next renewal or at its release ({@link LeaseLoss.Reason#FORCED}), and its fencing token
   * is older than the next holder's.
   *
   * <p>The command is sent at most once. If its reply is lost, it is unknown whether the lock was
   * released, and a second command could hit the next holder: then it throws, and the message says
   * so.
   *
   * @return whether the lock was held
   * @throws LockException if Redis did not confirm the release
   */
  boolean forceUnlock();
}
