package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * The protocol of a reader.
 *
 * @param scripts the keys and calls of the lock
 * @param writer the write hold of the calling thread, below which it may read
 */
record ReadLockProtocol(ReadWriteScripts scripts, CallerHold writer)
    implements QueueingProtocol, NotifyingProtocol, CallerAwareProtocol {
  private static final Script ACQUIRE = Script.load("rw/read");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_read");
  private static final Script HEARTBEAT = Script.load("rw/reader_heartbeat");
  private static final String READERS = "read";
  private static final long MAX_RENEWAL_INTERVAL_MILLIS = 10_000;

  private static final CallerHold NO_WRITER = new CallerHold("", 0, -1);

  /** Creates the protocol of a reader without a write hold. */
  ReadLockProtocol(ReadWriteScripts scripts) {
    this(scripts, NO_WRITER);
  }

  @Override
  public LockName name() {
    return scripts.name;
  }

  @Override
  public String kind() {
    return ReadWriteScripts.READ_LOCK;
  }

  /** Returns false, because readers hold the lock together. */
  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  /** Returns false also for a writer, which reads by its own hold, below its write hold. */
  @Override
  public boolean allowsSharing() {
    return !scripts.fair && writer.equals(NO_WRITER);
  }

  /** Returns a protocol that lets a thread with the write lock read as well. */
  @Override
  public LockProtocol boundTo(Caller caller) {
    return caller
        .holdOf(ReadWriteScripts.WRITE_LOCK)
        .map(hold -> new ReadLockProtocol(scripts, hold))
        .orElse(this);
  }

  @Override
  public String channel(String holder) {
    return scripts.channel(holder);
  }

  /** Returns the channel of all readers, who enter together when a write hold ends. */
  @Override
  public String channelWhenQueued(String holder) {
    return scripts.channelOfReader(holder);
  }

  /** Returns a call that notifies the next writer: readers are notified together. */
  @Override
  public ScriptCall notifyNext() {
    return scripts.notifyNext();
  }

  /** Returns false: a reader also waits while a writer intends to acquire a free lock. */
  @Override
  public boolean isHeldWhenQueued() {
    return false;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return scripts.fair;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    return new ScriptCall(
        scripts.fair ? ACQUIRE_FAIR : ACQUIRE,
        scripts.keysAndToken(),
        List.of(
            bytes(holder),
            bytes(leaseMillis),
            publish(),
            bytes(writer.equals(NO_WRITER) ? "" : ReadWriteScripts.writeHold(writer.holder())),
            scripts.queue.heartbeatValidityMillis(waits),
            scripts.tokenRetentionMillis,
            bytes(writer.fencingToken()),
            bytes(writer.lastReservedToken())));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return scripts.release(holder);
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return scripts.keep(holder, restMillis);
  }

  @Override
  public ScriptCall leave(String holder) {
    return scripts.leave(holder);
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return scripts.renew(holder, leaseMillis);
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
  public Heartbeat heartbeat(String holder) {
    return scripts.fair
        ? scripts.queueHeartbeat(holder)
        : scripts.queue.heartbeat(
            new ScriptCall(
                HEARTBEAT,
                List.of(scripts.lockKey, scripts.intentKey, scripts.waitersKey, scripts.turnKey),
                List.of(bytes(holder), scripts.queue.heartbeatValidityMillis())));
  }

  @Override
  public ScriptCall forceRelease() {
    return scripts.forceRelease(READERS);
  }

  @Override
  public ScriptCall queryLease() {
    return scripts.queryLease(READERS);
  }
}
