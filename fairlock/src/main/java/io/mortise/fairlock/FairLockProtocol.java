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
 */
final class FairLockProtocol implements RunProtocol {
  private static final Script ACQUIRE = Script.load("fair/acquire");
  private static final Script RELEASE = Script.load("fair/release");
  private static final Script KEEP = Script.load("fair/keep");
  private static final Script LEAVE = Script.load("fair/leave");
  private static final Script HEARTBEAT = Script.load("fair/heartbeat");
  private static final Script FORCE = Script.load("fair/force");
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  private static final int FIRST_OF_RUN = 3;

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
  private final List<String> run;
  private final int served;

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
    this.run = List.of();
    this.served = 0;
  }

  /** Creates the protocol of a hold. */
  private FairLockProtocol(FairLockProtocol lock, List<String> run, int served) {
    this.name = lock.name;
    this.channelPrefix = lock.channelPrefix;
    this.lockKey = lock.lockKey;
    this.tokenKey = lock.tokenKey;
    this.forcedKey = lock.forcedKey;
    this.tokenRetentionMillis = lock.tokenRetentionMillis;
    this.forcedMarkMillis = lock.forcedMarkMillis;
    this.queue = lock.queue;
    this.keysOfHeartbeat = lock.keysOfHeartbeat;
    this.keysOfLeave = lock.keysOfLeave;
    this.keysOfRelease = lock.keysOfRelease;
    this.run = run;
    this.served = served;
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
    return acquire(holder, leaseMillis, waits, 0);
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int maxRun) {
    return new ScriptCall(
        ACQUIRE,
        List.of(lockKey, tokenKey, queue.key(), queue.deadlinesKey()),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis,
            bytes(maxRun),
            queue.heartbeatValidityMillis(waits)));
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
    return new FairLockProtocol(this, List.copyOf(behind), 0);
  }

  @Override
  public List<String> run() {
    return run;
  }

  @Override
  public int served() {
    return served;
  }

  @Override
  public RunProtocol servingNext() {
    return new FairLockProtocol(this, run, served + 1);
  }

  /** Returns the argument that names the waiters that the hold has served. */
  private byte[] servedWaiters() {
    return bytes(String.join(" ", run.subList(0, served)));
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(
        RELEASE, keysOfRelease, List.of(bytes(holder), publish(), servedWaiters()));
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return new ScriptCall(
        KEEP, keysOfRelease, List.of(bytes(holder), publish(), bytes(restMillis), servedWaiters()));
  }

  @Override
  public ScriptCall leave(String holder) {
    return new ScriptCall(LEAVE, keysOfLeave, List.of(bytes(holder), publish(), servedWaiters()));
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
