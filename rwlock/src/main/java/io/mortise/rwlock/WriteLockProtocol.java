package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Optional;

/** The protocol of a writer. */
record WriteLockProtocol(ReadWriteKeys keys) implements ReadWriteProtocol {
  private static final Script ACQUIRE = Script.load("rw/write");
  private static final Script ACQUIRE_FAIR = Script.load("rw/fair_write");
  private static final Script HEARTBEAT = Script.load("rw/writer_heartbeat");
  private static final byte[] ONE_TOKEN = bytes(1);

  /** Returns the hold of a writer. */
  static String writeHold(String holder) {
    return holder + ":write";
  }

  @Override
  public String kind() {
    return WRITE_LOCK;
  }

  @Override
  public String side() {
    return "write";
  }

  /** Returns false for a fair lock, whose queue in Redis orders the waiters of all processes. */
  @Override
  public boolean usesLocalQueue() {
    return !keys.fair;
  }

  /** Returns false for a fair lock, whose order a hand-off would break. */
  @Override
  public boolean allowsHandOff() {
    return !keys.fair;
  }

  /** Returns a self-deadlock if the thread holds the read lock. */
  @Override
  public Optional<String> selfDeadlock(Caller caller) {
    return caller
        .holdOf(READ_LOCK)
        .map(
            reader ->
                "it holds the read lock, and a read lock cannot become a write lock;"
                    + " release it first, then lock for writing and check again what was read");
  }

  @Override
  public String hashField(String holder) {
    return writeHold(holder);
  }

  /**
   * Returns the channel of the client in a lock that is not fair: the end of a hold notifies one
   * waiting writer alone.
   */
  @Override
  public String channelWhenQueued(String holder) {
    return keys.fair
        ? channel(holder)
        : NotifyingProtocol.channelOfClient(keys.channel, writeHold(holder));
  }

  /** Returns false for a fair lock, whose writers also wait behind another one for a free lock. */
  @Override
  public boolean isHeldWhenQueued() {
    return !keys.fair;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return new ScriptCall(
        keys.fair ? ACQUIRE_FAIR : ACQUIRE,
        keys.withToken,
        List.of(
            bytes(writeHold(holder)),
            bytes(leaseMillis),
            publish(),
            keys.queue.heartbeatValidityMillis(waits),
            keys.tokenRetentionMillis,
            successors == 0 ? ONE_TOKEN : bytes(successors + 1)));
  }

  @Override
  public ScriptCall unfairHeartbeat(String holder) {
    return new ScriptCall(
        HEARTBEAT,
        keys.ofMost,
        List.of(bytes(writeHold(holder)), keys.queue.heartbeatValidityMillis(), publish()));
  }
}
