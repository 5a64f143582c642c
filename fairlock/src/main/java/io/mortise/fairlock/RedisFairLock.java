package io.mortise.fairlock;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * An exclusive lock that is granted in the order in which threads asked for it, over all processes.
 *
 * <p><b>Order</b> is that in which the first attempts reached Redis. A thread that waits has a
 * place in a queue in Redis and keeps it, however long it waits, by a sign of life that its client
 * sends for it. {@code tryLock()} without a wait neither joins the queue nor overtakes it: it is
 * false while anybody waits. A release wakes the head of the queue, and nobody else.
 *
 * <p><b>Who stops waiting</b> (a timeout, an interrupt, an error, a closed client) leaves the queue
 * at once, while Redis answers. Who cannot (its process died, or hangs) loses its place when it has
 * given no sign of life for the <em>waiter timeout</em>, and delays those behind it by that time at
 * most. A process that was suspended for longer joins again, at the end.
 *
 * <p><b>The price.</b> Each hand-over travels to another thread through Redis, so a hot lock is
 * several times slower than a {@code RedisLock}. Use it where starvation or order matters.
 *
 * <p><b>In Redis:</b> the hash {@code name}; the list {@code redisson_lock_queue:{name}} and the
 * sorted set {@code redisson_lock_timeout:{name}} of those who wait; {@code
 * redisson_lock_token:{name}}; for each waiter the channel {@code
 * redisson_lock__channel:{name}:<holder>}.
 *
 * <p><b>A {@code RedisLock} of the same name</b> is excluded, and woken when the queue is empty. It
 * does not look at the queue, and may be granted before those who stand there.
 *
 * <p><b>A fair lock of Redisson</b> on the same name stands in the same queue.
 *
 * <ul>
 *   <li>A dead Redisson waiter keeps its place for five minutes and more, and so may a Mortise
 *       waiter that dies behind one in {@code tryLock}.
 *   <li>Redisson judges by the clock of its own process. One that is ahead of the server's by more
 *       than three quarters of the waiter timeout takes Mortise's waiters for dead and goes first:
 *       keep clocks synchronised, or the waiter timeout long.
 *   <li>A waiter of Redisson before 3.32.0 hears of the death of a Mortise waiter before it only if
 *       all Mortise waiters of the queue have the same waiter timeout.
 * </ul>
 *
 * <p>The details are in {@code docs/wire.md}.
 *
 * <p>All else is said at {@link io.mortise.core.DistributedLock}.
 */
public final class RedisFairLock extends LeaseBackedLock {
  /**
   * How long a waiter that gives no sign of life delays the others, if nothing else is said: 10 s.
   */
  public static final Duration DEFAULT_WAITER_TIMEOUT = WaiterTimeout.DEFAULT;

  private final ProtocolLeaseSource source;
  private final FairLockProtocol protocol;

  /**
   * The fair lock of that name, with the default waiter timeout. Sends nothing.
   *
   * @throws IllegalArgumentException if the name is blank or longer than 1,024 characters, or has
   *     an opening brace that makes no hash tag
   */
  public RedisFairLock(LockClient client, String name) {
    this(client, name, DEFAULT_WAITER_TIMEOUT);
  }

  /**
   * The fair lock of that name. Sends nothing.
   *
   * @param waiterTimeout how long a waiter that gives no sign of life delays those behind it; from
   *     200 ms to 1 h. Shorter: the others are delayed less by a dead one, and a living one loses
   *     its place in a shorter pause. Should be the same in all processes; if it is not, a dead
   *     one's applies, and those behind it notice after a quarter of their own
   * @throws IllegalArgumentException if the waiter timeout is out of that range
   */
  public RedisFairLock(LockClient client, String name, Duration waiterTimeout) {
    this(
        client,
        new FairLockProtocol(
            new LockName(name), client.options(), new WaiterTimeout(waiterTimeout)));
  }

  private RedisFairLock(LockClient client, FairLockProtocol protocol) {
    this(ProtocolLeaseSource.of(client, protocol), protocol);
  }

  private RedisFairLock(ProtocolLeaseSource source, FairLockProtocol protocol) {
    super(source);
    this.source = source;
    this.protocol = protocol;
  }

  /** How many wait for this lock, in all processes, at this moment. One round trip. */
  public long queueLength() {
    return place("").get(0);
  }

  /**
   * How many stand before the first waiter of this client, 0 when it is the next. For a thread that
   * waits, another thread asks; who waits by {@code acquireAsync} can ask itself. One round trip.
   *
   * @return empty when nobody waits through this client
   */
  public OptionalLong queuePosition() {
    List<String> waiting = source.waitingHolders();
    if (waiting.isEmpty()) {
      return OptionalLong.empty();
    }
    long position = place(waiting.get(0)).get(1);
    return position < 0 ? OptionalLong.empty() : OptionalLong.of(position);
  }

  @SuppressWarnings("unchecked")
  private List<Long> place(String holder) {
    return (List<Long>) source.query(protocol.place(holder));
  }
}
