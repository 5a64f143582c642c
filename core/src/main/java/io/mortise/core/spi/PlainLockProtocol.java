package io.mortise.core.spi;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.LockOptions;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * The protocol of {@link io.mortise.core.RedisLock}: one hash with one holder. A family of plain
 * locks with another release extends it.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public class PlainLockProtocol implements NotifyingProtocol, GroupProtocol {
  private static final Script ACQUIRE = Script.load("lock/acquire");
  private static final Script ACQUIRE_ALL = Script.load("lock/acquire_all");
  private static final Script RELEASE = Script.load("lock/release");
  private static final Script NOTIFY = Script.load("lock/notify");
  private static final Script KEEP = Script.load("lock/keep");
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script FORCE = Script.load("lock/force");
  private static final Script INSPECT = Script.load("lock/inspect");

  private static final byte[] ONE_TOKEN = bytes(1);
  private static final byte[] DOES_NOT_WAIT = bytes(0);
  private static final byte[] WAITS = bytes(1);

  private final LockName name;
  private final LockOptions options;

  /** Sends nothing. */
  public PlainLockProtocol(LockName name, LockOptions options) {
    this.name = name;
    this.options = options;
  }

  // Made for each command: each hold keeps its protocol, and a process may have many holds.

  private byte[] lockKey() {
    return bytes(name.value());
  }

  private String channel() {
    return name.derive("redisson_lock__channel");
  }

  private byte[] tokenRetentionMillis() {
    return bytes(options.tuning().tokenRetention().toMillis());
  }

  @Override
  public final LockName name() {
    return name;
  }

  @Override
  public final String kind() {
    return "lock";
  }

  @Override
  public final boolean usesLocalQueue() {
    return true;
  }

  @Override
  public final String channel(String holder) {
    return channel();
  }

  /** Returns the channel of the client: the end of a hold notifies one waiting client alone. */
  @Override
  public final String channelWhenQueued(String holder) {
    return NotifyingProtocol.channelOfClient(channel(), holder);
  }

  @Override
  public final boolean allowsHandOff() {
    return true;
  }

  @Override
  public final ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    byte[] lockKey = lockKey();
    return new ScriptCall(
        ACQUIRE,
        List.of(lockKey, bytes(name.tokenKey()), waits ? bytes(name.waitersKey()) : lockKey),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis(),
            successors == 0 ? ONE_TOKEN : bytes(successors + 1),
            waits ? WAITS : DOES_NOT_WAIT));
  }

  @Override
  public final ScriptCall acquireTogether(String holder, long leaseMillis) {
    return new ScriptCall(
        ACQUIRE_ALL,
        List.of(lockKey(), bytes(name.tokenKey())),
        List.of(bytes(holder), bytes(leaseMillis), tokenRetentionMillis()));
  }

  @Override
  public final AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(RELEASE, keysOfRelease(), List.of(bytes(holder), publish()));
  }

  private List<byte[]> keysOfRelease() {
    return List.of(lockKey(), bytes(channel()), bytes(name.forcedKey()), bytes(name.waitersKey()));
  }

  @Override
  public final ScriptCall notifyNext() {
    return new ScriptCall(
        NOTIFY, List.of(lockKey(), bytes(channel()), bytes(name.waitersKey())), List.of(publish()));
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return new ScriptCall(
        KEEP, keysOfRelease(), List.of(bytes(holder), publish(), bytes(restMillis)));
  }

  @Override
  public final ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW,
        List.of(lockKey(), bytes(name.forcedKey())),
        List.of(bytes(holder), bytes(leaseMillis)));
  }

  @Override
  public ScriptCall forceRelease() {
    return new ScriptCall(
        FORCE, keysOfRelease(), List.of(publish(), bytes(options.lease().toMillis())));
  }

  @Override
  public final ScriptCall queryLease() {
    return new ScriptCall(INSPECT, List.of(lockKey()), List.of());
  }
}
