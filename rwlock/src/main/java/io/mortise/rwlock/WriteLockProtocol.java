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

/** What a writer says to Redis. */
record WriteLockProtocol(ReadWriteScripts wire) implements LockProtocol {
  static final String KIND = "write lock";

  private static final Script ACQUIRE = Script.load("rw/write");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_write");
  private static final Script PRESENCE = Script.load("rw/writer_presence");
  private static final String WRITER = "write";

  /** How a writer stands in the hash. */
  static String hold(String holder) {
    return holder + ":write";
  }

  @Override
  public LockName name() {
    return wire.name;
  }

  @Override
  public String kind() {
    return KIND;
  }

  /** The queue of a fair lock knows all processes; otherwise one writer of a client is enough. */
  @Override
  public boolean usesLocalQueue() {
    return !wire.fair;
  }

  /** A thread that reads would wait for itself. */
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
  public boolean dependsOnCaller() {
    return true;
  }

  @Override
  public String channel(String holder) {
    return wire.channel(hold(holder));
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
            bytes(hold(holder)),
            bytes(leaseMillis),
            publish(),
            waits ? wire.presentMillis : ReadWriteScripts.DOES_NOT_WAIT,
            wire.tokenIdleMillis));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return ReadWriteScripts.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return wire.release(hold(holder));
  }

  @Override
  public ScriptCall leave(String holder) {
    return wire.leave(hold(holder));
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return wire.renew(hold(holder), leaseMillis);
  }

  @Override
  public Optional<Heartbeat> heartbeat(String holder) {
    return Optional.of(
        wire.fair
            ? wire.inQueue(hold(holder))
            : new Heartbeat(
                new ScriptCall(
                    PRESENCE,
                    wire.keys(),
                    List.of(bytes(hold(holder)), wire.presentMillis, publish())),
                wire.heartbeatIntervalMillis));
  }

  @Override
  public ScriptCall forceRelease() {
    return wire.force(WRITER);
  }

  @Override
  public ScriptCall queryLease() {
    return wire.inspect(WRITER);
  }
}
