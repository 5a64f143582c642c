package io.mortise.fairlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * The protocol of {@link RedisFairLock}: the hash of the plain lock, and a queue of its waiters.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class FairLockProtocol implements QueueingProtocol {
  private static final Script ACQUIRE = Script.load("fair/acquire");
  private static final Script RELEASE = Script.load("fair/release");
  private static final Script KEEP = Script.load("fair/keep");
  private static final Script LEAVE = Script.load("fair/leave");
  private static final Script HEARTBEAT = Script.load("fair/heartbeat");
  private static final Script FORCE = Script.load("fair/force");
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  private static final byte[] ONE_TOKEN = bytes(1);

  private final LockName name;
  private final String channelPrefix;
  private final byte[] lockKey;
  private final byte[] tokenKey;
  private final byte[] forcedKey;
  private final byte[] tokenRetentionMillis;
  private final byte[] forcedMarkMillis;
  private final WaiterQueue queue;

  private final List<byte[]> keysOfHeartbeat;

  private final List<byte[]> keysOfLeave;
  private final List<byte[]> keysOfRelease;

  FairLockProtocol(LockName name, LockOptions options, WaiterTimeout waiterTimeout) {
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
    this.keysOfHeartbeat = List.of(lockKey, channels, queue.key(), queue.deadlinesKey());
    this.keysOfLeave = List.of(lockKey, channels, queue.key(), queue.deadlinesKey(), plainWaiters);
    this.keysOfRelease =
        List.of(lockKey, channels, forcedKey, queue.key(), queue.deadlinesKey(), plainWaiters);
  }

  @Override
  public LockName name() {
    return name;
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
    return channelPrefix + ":" + holder;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return true;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    return new ScriptCall(
        ACQUIRE,
        List.of(lockKey, tokenKey, queue.key(), queue.deadlinesKey()),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis,
            ONE_TOKEN,
            queue.heartbeatValidityMillis(waits)));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(RELEASE, keysOfRelease, List.of(bytes(holder), publish()));
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return new ScriptCall(
        KEEP, keysOfRelease, List.of(bytes(holder), publish(), bytes(restMillis)));
  }

  @Override
  public ScriptCall leave(String holder) {
    return new ScriptCall(LEAVE, keysOfLeave, List.of(bytes(holder), publish()));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW, List.of(lockKey, forcedKey), List.of(bytes(holder), bytes(leaseMillis)));
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return queue.heartbeat(
        new ScriptCall(
            HEARTBEAT,
            keysOfHeartbeat,
            List.of(bytes(holder), queue.heartbeatValidityMillis(), publish())));
  }

  @Override
  public ScriptCall forceRelease() {
    return new ScriptCall(FORCE, keysOfRelease, List.of(publish(), forcedMarkMillis));
  }

  @Override
  public ScriptCall queryLease() {
    return new ScriptCall(INSPECT, List.of(lockKey), List.of());
  }

  /** Returns a query of the length of the queue and the position of a holder in it. */
  ScriptCall queuePosition(String holder) {
    return queue.query(holder);
  }
}
