package io.mortise.rwlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock that many readers hold together, or one writer alone, over all processes.
 *
 * <p><b>Owners.</b> {@link #readLock()} and {@link #writeLock()} are locks like every other, with
 * owners, handles and leases of their own; see {@link DistributedLock}. A thread that has the write
 * lock may take the read lock too, and keep it when it gives up the write lock (<em>downgrade</em>;
 * readers that wait come in at that moment). The other way round it would wait for itself: a thread
 * that has the read lock is refused the write lock, {@code lock()} with an {@link
 * IllegalStateException} that says so, {@code tryLock} with false, a handle that would be waited
 * for with the same exception, and nothing is sent. A handle belongs to no thread: its holder is a
 * reader or writer like any other, except that a read handle may be taken by a thread that owns the
 * write lock.
 *
 * <p><b>Fairness and its price.</b> Unless it is fair, the lock keeps no order, but neither readers
 * nor writers starve the other side. While a writer waits, new readers wait too, so it comes in
 * after those that were there before it. When a writer has gone, all readers that waited come in
 * together, in all processes, before the next writer does. A fair lock is granted in the order of
 * arrival over all processes; neighbouring readers enter together. It costs a place in a queue for
 * each one that waits, and a message to another process at each change of turn. {@code tryLock()}
 * without a wait does not overtake: it is false while a writer waits (to read), while it is the
 * readers' turn (to write), and, of a fair lock, while somebody waits that it would have to wait
 * for. All processes should be of one mind about fairness; if they are not the lock excludes as
 * ever, but promises no order.
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
 * <p><b>Leases.</b> Each hold has its own. A reader that died is gone when its own lease has run
 * out, however long the others read on. A write hold has a fencing token as every exclusive lock;
 * that of a read hold is the last writer's, so that it orders what was read.
 *
 * <p><b>Memory.</b> As every {@code DistributedLock}: what a writer of this JVM did before
 * unlocking <i>happens before</i> what follows a later lock, for reading or writing, of the same
 * name and client.
 *
 * <p><b>Limits.</b> Re-entry is by thread. Who holds a read handle and waits for another one while
 * a writer waits in between, waits for itself until one of the leases ends, or its own wait does. A
 * waiter that died without a word delays the others by the <em>waiter timeout</em> (10 s if nothing
 * else is said). {@code forceUnlock()} takes a read lock from all its readers, and a write lock
 * from its writer, who keeps what it reads.
 *
 * <p><b>In Redis:</b> the hash {@code name}; for each reader {@code
 * {name}:<holder>:rwlock_timeout:1}; {@code redisson_lock_token:{name}}; while somebody waits
 * {@code mortise_write_intent:{name}}, {@code mortise_read_waiters:{name}}, {@code
 * mortise_read_turn:{name}}, of a fair lock {@code redisson_lock_queue:{name}} and {@code
 * redisson_lock_timeout:{name}}; the channel {@code redisson_rwlock:{name}}, of a fair lock with
 * {@code :<holder>} behind it. A read-write lock of Redisson on the same name excludes this one,
 * and is excluded and woken by it. It knows nothing of turns and queues, so among such peers nobody
 * is kept from starving, and a waiter of a fair lock notices what they give up after a quarter of
 * its waiter timeout at the latest. A reader of Redisson before 4.4.0 cuts the leases of all
 * readers to its watchdog time at each renewal; a read hold restores its own within 10 s, which is
 * soon enough if that time is at least 15 s (Redisson's default is 30 s).
 */
public final class RedisReadWriteLock implements ReadWriteLock {
  /**
   * How long a waiter that gives no sign of life delays the others, if nothing else is said: 10 s.
   */
  public static final Duration DEFAULT_WAITER_TIMEOUT = WaiterTimeout.DEFAULT;

  private final ReadWriteScripts wire;
  private final ReadWriteSide readLock;
  private final ReadWriteSide writeLock;

  /**
   * The read-write lock of that name, not a fair one. Sends nothing.
   *
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, or has
   *     an opening brace that makes no hash tag
   */
  public RedisReadWriteLock(LockClient client, String name) {
    this(client, name, false);
  }

  /**
   * The read-write lock of that name. Sends nothing.
   *
   * @param fair whether it is granted in the order of arrival
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, or has
   *     an opening brace that makes no hash tag
   */
  public RedisReadWriteLock(LockClient client, String name, boolean fair) {
    this(client, name, fair, DEFAULT_WAITER_TIMEOUT);
  }

  /**
   * The read-write lock of that name. Sends nothing.
   *
   * @param fair whether it is granted in the order of arrival
   * @param waiterTimeout how long a waiter that gives no sign of life delays the others; from 200
   *     ms to 1 h. Should be the same in all processes; if it is not, a dead one's applies, and
   *     those behind it in a queue notice after a quarter of their own
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, or has
   *     an opening brace that makes no hash tag, or the waiter timeout is out of that range
   */
  public RedisReadWriteLock(LockClient client, String name, boolean fair, Duration waiterTimeout) {
    this.wire =
        new ReadWriteScripts(
            new LockName(name), client.options(), fair, new WaiterTimeout(waiterTimeout));
    this.readLock = new ReadWriteSide(client, new ReadLockProtocol(wire, ""));
    this.writeLock = new ReadWriteSide(client, new WriteLockProtocol(wire));
  }

  /** The name under which the processes meet: the key in Redis. */
  public String name() {
    return wire.name.value();
  }

  /** Whether it is granted in the order of arrival. */
  public boolean isFair() {
    return wire.fair;
  }

  /** The lock that is shared with other readers. */
  @Override
  public DistributedLock readLock() {
    return readLock;
  }

  /** The lock that is shared with nobody. */
  @Override
  public DistributedLock writeLock() {
    return writeLock;
  }

  /**
   * How many stand in the queue of the fair lock of that name, in all processes, at this moment.
   * One round trip.
   */
  public long queueLength() {
    return readLock.first(wire.queue());
  }

  /** Equal are locks of one name and client. */
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
    return (wire.fair ? "fair " : "") + "read-write lock:" + wire.name.value();
  }
}
