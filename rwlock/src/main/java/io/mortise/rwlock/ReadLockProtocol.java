package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * The protocol of a reader.
 *
 * @param writer the write hold of the calling thread, below which it may read
 */
record ReadLockProtocol(ReadWriteKeys keys, CallerHold writer) implements ReadWriteProtocol {
  private static final Script ACQUIRE = Script.load("rw/read");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_read");
  private static final Script HEARTBEAT = Script.load("rw/reader_heartbeat");
  private static final long MAX_RENEWAL_INTERVAL_MILLIS = 10_000;

  private static final CallerHold NO_WRITER = new CallerHold("", 0, -1);

  /** Creates the protocol of a reader without a write hold. */
  ReadLockProtocol(ReadWriteKeys keys) {
    this(keys, NO_WRITER);
  }

  @Override
  public String kind() {
    return READ_LOCK;
  }

  @Override
  public String side() {
    return "read";
  }

  /** Returns false, because readers hold the lock together. */
  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  /** Returns false also for a writer, which reads by its own hold, below its write hold. */
  @Override
  public boolean allowsSharing() {
    return !keys.fair && writer.equals(NO_WRITER);
  }

  /** Returns a protocol that lets a thread with the write lock read as well. */
  @Override
  public LockProtocol boundTo(Caller caller) {
    return caller.holdOf(WRITE_LOCK).map(hold -> new ReadLockProtocol(keys, hold)).orElse(this);
  }

  /**
   * Returns the channel of all readers of a lock that is not fair, who enter together when a write
   * hold ends.
   */
  @Override
  public String channelWhenQueued(String holder) {
    return keys.fair ? channel(holder) : keys.channel + ":readers";
  }

  /** Returns false: a reader also waits while a writer intends to acquire a free lock. */
  @Override
  public boolean isHeldWhenQueued() {
    return false;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return new ScriptCall(
        keys.fair ? ACQUIRE_FAIR : ACQUIRE,
        keys.withToken,
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            publish(),
            bytes(writer.equals(NO_WRITER) ? "" : WriteLockProtocol.writeHold(writer.holder())),
            keys.queue.heartbeatValidityMillis(waits),
            keys.tokenRetentionMillis,
            bytes(writer.fencingToken()),
            bytes(writer.lastReservedToken())));
  }

  /**
   * Bounds the interval because a Redisson before 4.4.0 that renews a reader sets the leases of all
   * readers to its own watchdog time, by default 30 s.
   */
  @Override
  public long maxRenewalIntervalMillis() {
    return MAX_RENEWAL_INTERVAL_MILLIS;
  }

  @Override
  public ScriptCall unfairHeartbeat(String holder) {
    return new ScriptCall(
        HEARTBEAT,
        List.of(keys.lockKey, keys.intentKey, keys.waitersKey, keys.turnKey),
        List.of(bytes(holder), keys.queue.heartbeatValidityMillis()));
  }
}
