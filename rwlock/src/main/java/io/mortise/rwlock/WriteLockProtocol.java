package io.mortise.rwlock;

import static io.mortise.rwlock.ReadWriteScripts.writeHold;
import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.TransferableProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Optional;

/**
 * The protocol of a writer.
 *
 * @param scripts the keys and calls of the lock
 */
record WriteLockProtocol(ReadWriteScripts scripts)
    implements QueueingProtocol, NotifyingProtocol, CallerAwareProtocol, TransferableProtocol {
  private static final Script ACQUIRE = Script.load("rw/write");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_write");
  private static final Script HEARTBEAT = Script.load("rw/writer_heartbeat");
  private static final String WRITER = "write";
  private static final byte[] ONE_TOKEN = bytes(1);

  @Override
  public LockName name() {
    return scripts.name;
  }

  @Override
  public String kind() {
    return ReadWriteScripts.WRITE_LOCK;
  }

  /** Returns false for a fair lock, whose queue in Redis orders the waiters of all processes. */
  @Override
  public boolean usesLocalQueue() {
    return !scripts.fair;
  }

  /** Returns false for a fair lock, whose order a hand-off would break. */
  @Override
  public boolean allowsHandOff() {
    return !scripts.fair;
  }

  /** Returns a self-deadlock if the thread holds the read lock. */
  @Override
  public Optional<String> selfDeadlock(Caller caller) {
    return caller
        .holdOf(ReadWriteScripts.READ_LOCK)
        .map(
            reader ->
                "it holds the read lock, and a read lock cannot become a write lock;"
                    + " release it first, then lock for writing and check again what was read");
  }

  @Override
  public String hashField(String holder) {
    return writeHold(holder);
  }

  @Override
  public String channel(String holder) {
    return scripts.channel(writeHold(holder));
  }

  /** Returns the channel of the client: the end of a hold notifies one waiting writer alone. */
  @Override
  public String channelWhenQueued(String holder) {
    return scripts.channelOfWriter(writeHold(holder));
  }

  @Override
  public ScriptCall notifyNext() {
    return scripts.notifyNext();
  }

  /** Returns false for a fair lock, whose writers also wait behind another one for a free lock. */
  @Override
  public boolean isHeldWhenQueued() {
    return !scripts.fair;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return scripts.fair;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    return acquire(holder, leaseMillis, waits, 1);
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int tokens) {
    return new ScriptCall(
        scripts.fair ? ACQUIRE_FAIR : ACQUIRE,
        scripts.keysAndToken(),
        List.of(
            bytes(writeHold(holder)),
            bytes(leaseMillis),
            publish(),
            scripts.queue.heartbeatValidityMillis(waits),
            scripts.tokenRetentionMillis,
            tokens == 1 ? ONE_TOKEN : bytes(tokens)));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return scripts.release(writeHold(holder));
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return scripts.keep(writeHold(holder), restMillis);
  }

  @Override
  public ScriptCall leave(String holder) {
    return scripts.leave(writeHold(holder));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return scripts.renew(writeHold(holder), leaseMillis);
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return scripts.fair
        ? scripts.queueHeartbeat(writeHold(holder))
        : scripts.queue.heartbeat(
            new ScriptCall(
                HEARTBEAT,
                scripts.keys(),
                List.of(
                    bytes(writeHold(holder)), scripts.queue.heartbeatValidityMillis(), publish())));
  }

  @Override
  public ScriptCall forceRelease() {
    return scripts.forceRelease(WRITER);
  }

  @Override
  public ScriptCall queryLease() {
    return scripts.queryLease(WRITER);
  }
}
