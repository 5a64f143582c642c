package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.QueueingProtocol;
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
    implements QueueingProtocol, CallerAwareProtocol {
  static final String KIND = "write lock";

  private static final Script ACQUIRE = Script.load("rw/write");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_write");
  private static final Script HEARTBEAT = Script.load("rw/writer_presence");
  private static final String WRITER = "write";

  /** Returns the field of a writer in the hash. */
  static String hold(String holder) {
    return holder + ":write";
  }

  @Override
  public LockName name() {
    return scripts.name;
  }

  @Override
  public String kind() {
    return KIND;
  }

  /** Returns false for a fair lock, whose queue in Redis orders the waiters of all processes. */
  @Override
  public boolean usesLocalQueue() {
    return !scripts.fair;
  }

  /** Returns a self-deadlock if the thread holds the read lock. */
  @Override
  public Optional<String> selfDeadlock(Caller caller) {
    return caller
        .holderOf(ReadLockProtocol.KIND)
        .map(
            reader ->
                "it holds the read lock, and a read lock cannot become a write lock;"
                    + " release it first, then lock for writing and check again what was read");
  }

  @Override
  public String hashField(String holder) {
    return hold(holder);
  }

  @Override
  public String channel(String holder) {
    return scripts.channel(hold(holder));
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
            bytes(hold(holder)),
            bytes(leaseMillis),
            publish(),
            waits ? scripts.heartbeatValidityMillis : ReadWriteScripts.DOES_NOT_WAIT,
            scripts.tokenRetentionMillis));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return ReadWriteScripts.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return scripts.release(hold(holder));
  }

  @Override
  public ScriptCall leave(String holder) {
    return scripts.leave(hold(holder));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return scripts.renew(hold(holder), leaseMillis);
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return scripts.fair
        ? scripts.queueHeartbeat(hold(holder))
        : new Heartbeat(
            new ScriptCall(
                HEARTBEAT,
                scripts.keys(),
                List.of(bytes(hold(holder)), scripts.heartbeatValidityMillis, publish())),
            scripts.heartbeatIntervalMillis);
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
