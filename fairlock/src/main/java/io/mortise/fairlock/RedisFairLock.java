package io.mortise.fairlock;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * An exclusive lock that is granted in the order in which threads of all processes asked for it.
 *
 * <p><b>Order.</b> The order is that in which the first attempts reached Redis. A waiter has a
 * place in a queue in Redis and keeps it, however long it waits, by a heartbeat that its client
 * sends. {@code tryLock()} without a wait neither joins the queue nor overtakes it: it returns
 * false while a waiter is in the queue. A release wakes only the head of the queue.
 *
 * <p><b>Leaving.</b> A waiter that stops waiting (a timeout, an interrupt, an error, a closed
 * client) leaves the queue immediately, if Redis answers. A waiter that cannot leave (its process
 * died, or hangs) loses its place when it has sent no heartbeat for the <em>waiter timeout</em>,
 * and delays the waiters behind it by at most that time. A process that was suspended, or could not
 * reach Redis, for three quarters of that time or longer joins again, at the tail.
 *
 * <p><b>Cost.</b> Each waiter joins the queue in Redis, so a contended lock is several times slower
 * than a {@code RedisLock}. Use it where starvation or order matters. Waiters of one client that
 * are directly behind each other are a <em>run</em>: one grant and one release serve all of them,
 * within {@link io.mortise.core.LockTuning#maxHandOffs} and {@code maxHandOffTime}. Each other
 * hand-off goes through Redis.
 *
 * <p><b>In Redis:</b> the hash {@code name}; the list {@code redisson_lock_queue:{name}} and the
 * sorted set {@code redisson_lock_timeout:{name}} of the waiters; {@code
 * redisson_lock_token:{name}}; for each waiter the channel {@code
 * redisson_lock__channel:{name}:<holder>}.
 *
 * <p><b>A {@code RedisLock} of the same name</b> is excluded, in the thread that holds this lock
 * too, and woken when the queue is empty. It ignores the queue, and may be granted before the
 * waiters in it.
 *
 * <p><b>A fair lock of Redisson</b> on the same name uses the same queue.
 *
 * <ul>
 *   <li>A dead Redisson waiter keeps its place for five minutes or more, and so may a Mortise
 *       waiter that dies behind one in {@code tryLock}.
 *   <li>Redisson uses the clock of its own process. If that clock is ahead of the server's by more
 *       than three quarters of the waiter timeout, Redisson considers Mortise's waiters dead and
 *       goes first: keep clocks synchronised, or the waiter timeout long.
 *   <li>A waiter of Redisson before 3.32.0 detects the death of a Mortise waiter ahead of it only
 *       if all Mortise waiters in the queue have the same waiter timeout.
 * </ul>
 *
 * <p>The details are in {@code docs/wire.md}.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link io.mortise.core.DistributedLock}
 * describes everything else.
 */
public final class RedisFairLock extends LeaseBackedLock {
  /** The default waiter timeout, for which a waiter without a heartbeat delays the others: 10 s. */
  public static final Duration DEFAULT_WAITER_TIMEOUT = WaiterTimeout.DEFAULT;

  private final ProtocolLeaseSource source;
  private final FairLockProtocol protocol;

  /**
   * Creates the fair lock of that name, with the default waiter timeout. Sends nothing.
   *
   * @throws IllegalArgumentException if the name is blank, or with the namespace of the client
   *     longer than 1,024 characters, has an opening brace that makes no hash tag, or half of a
   *     surrogate pair
   */
  public RedisFairLock(LockClient client, String name) {
    this(client, name, DEFAULT_WAITER_TIMEOUT);
  }

  /**
   * Creates the fair lock of that name. Sends nothing.
   *
   * @param waiterTimeout how long a waiter without a heartbeat delays the waiters behind it; from
   *     200 ms to 1 h. Shorter: a dead waiter delays the others less, and a shorter pause costs a
   *     living one its place. Should be the same in all processes; otherwise the timeout of the
   *     dead waiter applies, and the waiters behind it notice after a quarter of their own
   * @throws IllegalArgumentException if the waiter timeout is out of that range
   */
  public RedisFairLock(LockClient client, String name, Duration waiterTimeout) {
    this(
        client,
        new FairLockProtocol(
            LockName.of(Objects.requireNonNull(client, "client").options(), name),
            client.options(),
            new WaiterTimeout(waiterTimeout)));
  }

  private RedisFairLock(LockClient client, FairLockProtocol protocol) {
    this(ProtocolLeaseSource.of(client, protocol), protocol);
  }

  private RedisFairLock(ProtocolLeaseSource source, FairLockProtocol protocol) {
    super(source);
    this.source = source;
    this.protocol = protocol;
  }

  /**
   * Returns the number of waiters, in all processes, at this moment. While a run is served, those
   * of it count that have had the lock. One round trip.
   */
  public long queueLength() {
    return protocol.queue().length(source::query);
  }

  /**
   * Returns how many waiters are ahead of the first waiter of this client, 0 when it is the next.
   * Counts as {@link #queueLength} does. Another thread has to call it for a thread that waits; a
   * caller of {@code acquireAsync} can call it itself. One round trip for each 200 waiters of this
   * client.
   *
   * @return empty when this client has no waiter
   */
  public OptionalLong queuePosition() {
    return protocol.queue().positionOfFirst(source.waitingHolders(), source::query);
  }
}
