package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Optional;

/**
 * What a reader says to Redis.
 *
 * @param writer the write hold of the thread that asks, below which it may read; empty if it has
 *     none
 */
record ReadLockProtocol(ReadWriteScripts wire, String writer) implements LockProtocol {
  static final String KIND = "read lock";

  private static final Script ACQUIRE = Script.load("rw/read");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_read");
  private static final Script PRESENCE = Script.load("rw/reader_presence");
  private static final String READERS = "read";
  private static final long MAX_RENEWAL_INTERVAL_MILLIS = 10_000;

  @Override
  public LockName name() {
    return wire.name;
  }

  @Override
  public String kind() {
    return KIND;
  }

  /** Readers come in together. */
  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  /** A thread that writes reads by a hold of its own, below its write hold. */
  @Override
  public boolean allowsSharing() {
    return !wire.fair && writer.isEmpty();
  }

  /** A thread that writes may read too. */
  @Override
  public LockProtocol boundTo(Caller caller) {
    return caller
        .holderOf(WriteLockProtocol.KIND)
        .map(holder -> new ReadLockProtocol(wire, WriteLockProtocol.hold(holder)))
        .orElse(this);
  }

  @Override
  public boolean dependsOnCaller() {
    return true;
  }

  @Override
  public String channel(String holder) {
    return wire.channel(holder);
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return wire.fair;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    return new ScriptCall(
        wire.fair ? ACQUIRE_FAIR : ACQUIRE,
        wire.keysAndToken(),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            publish(),
            bytes(writer),
            waits ? wire.presentMillis : ReadWriteScripts.DOES_NOT_WAIT,
            wire.tokenIdleMillis));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return ReadWriteScripts.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return wire.release(holder);
  }

  @Override
  public ScriptCall leave(String holder) {
    return wire.leave(holder);
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return wire.renew(holder, leaseMillis);
  }

  /**
   * A Redisson before 4.4.0 that renews a reader sets the leases of all readers to its own watchdog
   * time, 30 s if nothing else is said.
   */
  @Override
  public long maxRenewalIntervalMillis() {
    return MAX_RENEWAL_INTERVAL_MILLIS;
  }

  @Override
  public Optional<Heartbeat> heartbeat(String holder) {
    return Optional.of(
        wire.fair
            ? wire.inQueue(holder)
            : new Heartbeat(
                new ScriptCall(
                    PRESENCE,
                    List.of(wire.lockKey, wire.intentKey, wire.waitersKey, wire.turnKey),
                    List.of(bytes(holder), wire.presentMillis)),
                wire.heartbeatIntervalMillis));
  }

  @Override
  public ScriptCall forceRelease() {
    return wire.force(READERS);
  }

  @Override
  public ScriptCall queryLease() {
    return wire.inspect(READERS);
  }
}
