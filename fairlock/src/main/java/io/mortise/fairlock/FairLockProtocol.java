package io.mortise.fairlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;
import static io.mortise.scripts.ScriptCall.text;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.RunProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;

/**
 * The protocol of {@link RedisFairLock}: the hash of the plain lock, and a queue of its waiters.
 * That of a hold has its run, and the number of waiters in it that the hold has served.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 *
 * @param run the run of a hold; empty for none
 * @param served how many of its waiters the hold has served
 */
record FairLockProtocol(Keys keys, List<String> run, int served) implements RunProtocol {
  private static final Script ACQUIRE = Script.load("fair/acquire");
  private static final Script RELEASE = Script.load("fair/release");
  private static final Script KEEP = Script.load("fair/keep");
  private static final Script LEAVE = Script.load("fair/leave");
  private static final Script HEARTBEAT = Script.load("fair/heartbeat");
  private static final Script FORCE = Script.load("fair/force");
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  private static final int FIRST_OF_RUN = 3;

  /** The keys and the constant arguments of one fair lock, encoded once for all of its holds. */
  static final class Keys {
    final LockName name;
    final String channelPrefix;
    final byte[] lockKey;
    final byte[] tokenKey;
    final byte[] forcedKey;
    final byte[] tokenRetentionMillis;
    final byte[] forcedMarkMillis;
    final WaiterQueue queue;
    final List<byte[]> ofHeartbeat;
    final List<byte[]> ofLeave;
    final List<byte[]> ofRelease;

    Keys(LockName name, LockOptions options, WaiterTimeout waiterTimeout) {
      this.name = name;
      this.channelPrefix = name.derive("redisson_lock__channel");
      this.lockKey = bytes(name.value());
      this.tokenKey = bytes(name.tokenKey());
      this.forcedKey = bytes(name.forcedKey());
      this.tokenRetentionMillis = bytes(options.tuning().tokenRetention().toMillis());
      this.forcedMarkMillis = bytes(options.lease().toMillis());
      this.queue = new WaiterQueue(name, waiterTimeout);
      byte[] channels = bytes(channelPrefix);
      byte[] plainWaiters = bytes(name.waitersKey());
      this.ofHeartbeat = List.of(lockKey, channels, queue.key(), queue.deadlinesKey());
      this.ofLeave = List.of(lockKey, channels, queue.key(), queue.deadlinesKey(), plainWaiters);
      this.ofRelease =
          List.of(lockKey, channels, forcedKey, queue.key(), queue.deadlinesKey(), plainWaiters);
    }
  }

  FairLockProtocol(LockName name, LockOptions options, WaiterTimeout waiterTimeout) {
    this(new Keys(name, options, waiterTimeout), List.of(), 0);
  }

  @Override
  public LockName name() {
    return keys.name;
  }

  @Override
  public String kind() {
    return "fair lock";
  }

  /** Returns false, because only Redis knows the order of all processes. */
  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  @Override
  public String channel(String holder) {
    return keys.channelPrefix + ":" + holder;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return true;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return new ScriptCall(
        ACQUIRE,
        List.of(keys.lockKey, keys.tokenKey, keys.queue.key(), keys.queue.deadlinesKey()),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            keys.tokenRetentionMillis,
            bytes(successors),
            keys.queue.heartbeatValidityMillis(waits)));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  /** Returns the protocol with the run that the grant covers. */
  @Override
  public LockProtocol granted(Object reply) {
    List<?> fields = (List<?>) reply;
    if (fields.size() <= FIRST_OF_RUN) {
      return this;
    }
    List<String> behind = new ArrayList<>();
    for (Object waiter : fields.subList(FIRST_OF_RUN, fields.size())) {
      behind.add(text(waiter));
    }
    return new FairLockProtocol(keys, List.copyOf(behind), 0);
  }

  @Override
  public RunProtocol servingNext() {
    return new FairLockProtocol(keys, run, served + 1);
  }

  /** Returns the argument that names the waiters that the hold has served. */
  private byte[] servedWaiters() {
    return bytes(String.join(" ", run.subList(0, served)));
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(
        RELEASE, keys.ofRelease, List.of(bytes(holder), publish(), servedWaiters()));
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return new ScriptCall(
        KEEP,
        keys.ofRelease,
        List.of(bytes(holder), publish(), bytes(restMillis), servedWaiters()));
  }

  @Override
  public ScriptCall leave(String holder) {
    return new ScriptCall(LEAVE, keys.ofLeave, List.of(bytes(holder), publish(), servedWaiters()));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW, List.of(keys.lockKey, keys.forcedKey), List.of(bytes(holder), bytes(leaseMillis)));
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return keys.queue.heartbeat(
        new ScriptCall(
            HEARTBEAT,
            keys.ofHeartbeat,
            List.of(bytes(holder), keys.queue.heartbeatValidityMillis(), publish())));
  }

  @Override
  public ScriptCall forceRelease() {
    return new ScriptCall(FORCE, keys.ofRelease, List.of(publish(), keys.forcedMarkMillis));
  }

  @Override
  public ScriptCall queryLease() {
    return new ScriptCall(INSPECT, List.of(keys.lockKey), List.of());
  }

  /** Returns the queue of the waiters. */
  WaiterQueue queue() {
    return keys.queue;
  }
}
