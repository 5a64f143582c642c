package io.mortise.fairlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.QueueingProtocol;
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
  private static final Script LEAVE = Script.load("fair/leave");
  private static final Script HEARTBEAT = Script.load("fair/presence");
  private static final Script FORCE = Script.load("fair/force");
  private static final Script QUEUE = Script.load("fair/queue");
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  private static final byte[] ONE_TOKEN = bytes(1);
  private static final byte[] DOES_NOT_WAIT = bytes(0);

  private final LockName name;
  private final String channelPrefix;
  private final byte[] lockKey;
  private final byte[] tokenKey;
  private final byte[] forcedKey;
  private final byte[] queueKey;
  private final byte[] deadlinesKey;
  private final byte[] channelsKey;
  private final byte[] tokenRetentionMillis;
  private final byte[] forcedMarkMillis;
  private final byte[] heartbeatValidityMillis;
  private final long heartbeatIntervalMillis;

  FairLockProtocol(LockName name, LockOptions options, WaiterTimeout waiterTimeout) {
    this.name = name;
    this.channelPrefix = name.derive("redisson_lock__channel");
    this.lockKey = bytes(name.value());
    this.tokenKey = bytes(name.tokenKey());
    this.forcedKey = bytes(name.forcedKey());
    this.queueKey = bytes(name.derive("redisson_lock_queue"));
    this.deadlinesKey = bytes(name.derive("redisson_lock_timeout"));
    this.channelsKey = bytes(channelPrefix);
    this.tokenRetentionMillis = bytes(options.tokenRetention().toMillis());
    this.forcedMarkMillis = bytes(options.lease().toMillis());
    this.heartbeatIntervalMillis = waiterTimeout.heartbeatIntervalMillis();
    this.heartbeatValidityMillis = bytes(waiterTimeout.heartbeatValidityMillis());
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
        List.of(lockKey, tokenKey, queueKey, deadlinesKey),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis,
            ONE_TOKEN,
            waits ? heartbeatValidityMillis : DOES_NOT_WAIT));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    List<?> fields = (List<?>) reply;
    long value = (Long) fields.get(1);
    return switch (((Long) fields.get(0)).intValue()) {
      case 1 -> AcquireResult.Acquired.of(fields);
      case 2 -> new AcquireResult.Queued(value);
      default -> new AcquireResult.Busy(value);
    };
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(
        RELEASE,
        List.of(lockKey, channelsKey, forcedKey, queueKey, deadlinesKey),
        List.of(bytes(holder), publish()));
  }

  @Override
  public ScriptCall leave(String holder) {
    return new ScriptCall(
        LEAVE,
        List.of(lockKey, channelsKey, queueKey, deadlinesKey),
        List.of(bytes(holder), publish()));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW, List.of(lockKey, forcedKey), List.of(bytes(holder), bytes(leaseMillis)));
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return new Heartbeat(
        new ScriptCall(
            HEARTBEAT,
            List.of(lockKey, channelsKey, queueKey, deadlinesKey),
            List.of(bytes(holder), heartbeatValidityMillis, publish())),
        heartbeatIntervalMillis);
  }

  @Override
  public ScriptCall forceRelease() {
    return new ScriptCall(
        FORCE,
        List.of(lockKey, channelsKey, forcedKey, queueKey, deadlinesKey),
        List.of(publish(), forcedMarkMillis));
  }

  @Override
  public ScriptCall queryLease() {
    return new ScriptCall(INSPECT, List.of(lockKey), List.of());
  }

  /** Returns a query of the length of the queue and the position of a holder in it. */
  ScriptCall queuePosition(String holder) {
    return new ScriptCall(QUEUE, List.of(queueKey, deadlinesKey), List.of(bytes(holder)));
  }
}
