package io.mortise.rwlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.Stream;

/**
 * A lock that many readers hold together, or one writer alone, over all processes.
 *
 * <p><b>Owners.</b> {@link #readLock()} and {@link #writeLock()} are locks like every other, with
 * their own owners, handles and leases; see {@link DistributedLock}. A thread that has the write
 * lock may acquire the read lock too, and keep it when it releases the write lock
 * (<em>downgrade</em>; waiting readers enter at that moment). An upgrade would wait for itself: a
 * thread that has the read lock is refused the write lock. Every wait throws an {@link
 * IllegalStateException} that says so, an attempt without a wait returns false, and nothing is
 * sent. A handle belongs to no thread: its holder is a reader or writer like any other, except that
 * a thread that owns the write lock may acquire a read handle.
 *
 * <p><b>Fairness and its cost.</b> Unless it is fair, the lock keeps no order, but neither readers
 * nor writers starve the other side. While a writer waits, new readers wait too, so the writer
 * enters after the readers that arrived before it. When a writer has released the lock, all waiting
 * readers of all processes enter together, before the next writer. (A write hold whose lease runs
 * out gives them no such turn: close what was acquired.) Threads of one client that write one after
 * the other count as one writer there, for at most {@link
 * io.mortise.core.LockTuning#maxHandOffTime} (20 ms): the write hold goes from one to the next
 * without a command, unless its thread has read below it. A fair lock is granted in the order of
 * arrival over all processes; adjacent readers enter together. It costs a place in a queue for each
 * waiter, and a message to another process at each change of turn. {@code tryLock()} without a wait
 * does not overtake: it is false while a writer waits (to read), while it is the readers' turn (to
 * write), and, for a fair lock, while a waiter is in the queue that it would have to wait for. All
 * processes should agree on fairness; otherwise the lock still excludes, but promises no order.
 *
 * <pre>{@code
 * ReadWriteLock catalogue = new RedisReadWriteLock(client, "catalogue");
 * catalogue.readLock().lock();
 * try {
 *   // together with other readers
 * } finally {
 *   catalogue.readLock().unlock();
 * }
 *
 * catalogue.writeLock().lock();
 * try {
 *   // alone; then, to read on while others may read again:
 *   catalogue.readLock().lock();
 * } finally {
 *   catalogue.writeLock().unlock();
 * }
 * }</pre>
 *
 * <p><b>Leases.</b> Each hold has its own lease. The hold of a reader that died ends with its own
 * lease, however long other readers go on. A write hold has a fencing token as every exclusive
 * lock; that of a read hold orders what was read: it is the last writer's or a later one, and
 * smaller than the next writer's. A thread that has both has one token for both.
 *
 * <p><b>Memory.</b> As every {@code DistributedLock}: what a writer of this JVM did before
 * unlocking <i>happens before</i> what follows a later lock, for reading or writing, of the same
 * name and client.
 *
 * <p><b>Limits.</b> Re-entry is by thread. A caller that holds a read handle and acquires a second
 * one can deadlock with itself if a writer queues in between; the deadlock ends when a lease or the
 * caller's wait ends. A waiter that died delays the others by at most the <em>waiter timeout</em>
 * (by default 10 s). A writer that finds more than a hundred dead readers removes them in several
 * attempts; until none is left, {@code tryLock()} without a wait is false. {@code forceUnlock()}
 * releases a read lock of all its readers, and a write lock of its writer, who keeps its read hold.
 *
 * <p><b>In Redis:</b> the hash {@code name}; for each reader {@code
 * {name}:<holder>:rwlock_timeout:1}; {@code mortise_readers:{name}}, while readers hold it
 * together; {@code redisson_lock_token:{name}}; while there are waiters {@code
 * mortise_write_intent:{name}}, {@code mortise_write_waiters:{name}}, {@code
 * mortise_read_waiters:{name}}, {@code mortise_read_turn:{name}}, of a fair lock {@code
 * redisson_lock_queue:{name}} and {@code redisson_lock_timeout:{name}}; the channel {@code
 * redisson_rwlock:{name}}, for writers with the suffix {@code :<client id>}, of a fair lock {@code
 * :<holder>}. A read-write lock of Redisson on the same name excludes this one, and is excluded and
 * woken by it. It ignores turns and queues, so with such peers no waiter is protected from
 * starvation, and a waiter of a fair lock notices their release after a quarter of its waiter
 * timeout at the latest. A reader of Redisson before 4.4.0 cuts the leases of all readers to its
 * watchdog time at each renewal; a read hold restores its own within 10 s, which is soon enough if
 * that time is at least 15 s (Redisson's default is 30 s).
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public final class RedisReadWriteLock implements ReadWriteLock {
  /** The default waiter timeout, for which a waiter without a heartbeat delays the others: 10 s. */
  public static final Duration DEFAULT_WAITER_TIMEOUT = WaiterTimeout.DEFAULT;

  private final ReadWriteKeys keys;
  private final ProtocolLeaseSource reads;
  private final ProtocolLeaseSource writes;
  private final DistributedLock readLock;
  private final DistributedLock writeLock;

  /**
   * Creates the read-write lock of that name, which keeps no order between processes. Sends
   * nothing.
   *
   * @throws IllegalArgumentException if the name is blank, or with the namespace of the client
   *     longer than 1,024 characters, has an opening brace that makes no hash tag, or half of a
   *     surrogate pair
   */
  public RedisReadWriteLock(LockClient client, String name) {
    this(client, name, DEFAULT_WAITER_TIMEOUT);
  }

  /**
   * As {@link #RedisReadWriteLock(LockClient, String)}, with another waiter timeout.
   *
   * @param waiterTimeout how long a waiter without a heartbeat delays the others; from 200 ms to 1
   *     h. Should be the same in all processes; otherwise the timeout of the dead waiter applies
   * @throws IllegalArgumentException also if the waiter timeout is out of that range
   */
  public RedisReadWriteLock(LockClient client, String name, Duration waiterTimeout) {
    this(client, name, false, waiterTimeout);
  }

  /**
   * Returns the fair read-write lock of that name, which is granted in the order of arrival. Sends
   * nothing.
   *
   * @throws IllegalArgumentException if the name is blank, or with the namespace of the client
   *     longer than 1,024 characters, has an opening brace that makes no hash tag, or half of a
   *     surrogate pair
   */
  public static RedisReadWriteLock fair(LockClient client, String name) {
    return fair(client, name, DEFAULT_WAITER_TIMEOUT);
  }

  /**
   * As {@link #fair(LockClient, String)}, with another waiter timeout.
   *
   * @param waiterTimeout how long a waiter without a heartbeat delays the others; from 200 ms to 1
   *     h. Should be the same in all processes; otherwise the timeout of the dead waiter applies,
   *     and the waiters behind it in a queue notice after a quarter of their own
   * @throws IllegalArgumentException also if the waiter timeout is out of that range
   */
  public static RedisReadWriteLock fair(LockClient client, String name, Duration waiterTimeout) {
    return new RedisReadWriteLock(client, name, true, waiterTimeout);
  }

  private RedisReadWriteLock(LockClient client, String name, boolean fair, Duration waiterTimeout) {
    this.keys =
        new ReadWriteKeys(
            LockName.of(Objects.requireNonNull(client, "client").options(), name),
            client.options(),
            fair,
            new WaiterTimeout(waiterTimeout));
    this.reads = ProtocolLeaseSource.of(client, new ReadLockProtocol(keys));
    this.readLock = LeaseBackedLock.of(reads);
    this.writes = ProtocolLeaseSource.of(client, new WriteLockProtocol(keys));
    this.writeLock = LeaseBackedLock.of(writes);
  }

  /** Returns the name that the processes share: the key in Redis. */
  public String name() {
    return keys.name.value();
  }

  /** Returns whether the lock is granted in the order of arrival. */
  public boolean isFair() {
    return keys.fair;
  }

  /** Returns the lock that readers share. */
  @Override
  public DistributedLock readLock() {
    return readLock;
  }

  /** Returns the exclusive lock. */
  @Override
  public DistributedLock writeLock() {
    return writeLock;
  }

  /**
   * Returns the length of the queue of the fair lock of that name, in all processes, at this
   * moment. One round trip.
   */
  public long queueLength() {
    return keys.queue.length(reads::query);
  }

  /**
   * Returns how many waiters of the fair lock are ahead of the first reader or writer of this
   * client that waits, 0 when it is the next. Another thread has to call it for a thread that
   * waits; a caller of {@code acquireAsync} can call it itself. One round trip for each 200 waiters
   * of this client.
   *
   * @return empty when this client has no waiter, and for a lock that is not fair
   */
  public OptionalLong queuePosition() {
    Stream<String> writers = writes.waitingHolders().stream().map(WriteLockProtocol::writeHold);
    List<String> waiting = Stream.concat(reads.waitingHolders().stream(), writers).toList();
    return keys.queue.positionOfFirst(waiting, reads::query);
  }

  /** Returns whether both are locks of one name and client. */
  @Override
  public boolean equals(Object other) {
    return other instanceof RedisReadWriteLock lock && readLock.equals(lock.readLock);
  }

  @Override
  public int hashCode() {
    return readLock.hashCode();
  }

  @Override
  public String toString() {
    return (keys.fair ? "fair " : "") + "read-write lock:" + keys.name.value();
  }
}
