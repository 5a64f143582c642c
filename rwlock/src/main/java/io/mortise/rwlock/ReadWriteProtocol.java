package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * What the protocols of readers and writers share. The scripts get a <em>hold</em>, which is a
 * {@linkplain #hashField field of the hash}: a reader's holder id, or a writer's with a suffix.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
interface ReadWriteProtocol extends QueueingProtocol, NotifyingProtocol, CallerAwareProtocol {
  String READ_LOCK = "read lock";
  String WRITE_LOCK = "write lock";

  Script RELEASE = Script.load("rw/release");
  Script KEEP = Script.load("rw/keep");
  Script LEAVE = Script.load("rw/leave");
  Script NOTIFY = Script.load("rw/notify");
  Script RENEW = Script.load("rw/renew");
  Script FORCE = Script.load("rw/force");
  Script INSPECT = Script.load("rw/inspect");
  Script FAIR_HEARTBEAT = Script.load("rw/fair_heartbeat");

  ReadWriteKeys keys();

  /** Returns the argument by which the scripts tell the sides apart. */
  String side();

  /** Returns the heartbeat of a waiter of a lock that is not fair. */
  ScriptCall unfairHeartbeat(String holder);

  @Override
  default LockName name() {
    return keys().name;
  }

  /** Returns the channel of a waiter: in the queue of a fair lock each has its own. */
  @Override
  default String channel(String holder) {
    return keys().fair ? keys().channel + ":" + hashField(holder) : keys().channel;
  }

  @Override
  default boolean hasChannelPerWaiter() {
    return keys().fair;
  }

  @Override
  default AcquireResult outcome(Object reply) {
    return WaiterQueue.outcome(reply);
  }

  @Override
  default ScriptCall release(String holder) {
    return new ScriptCall(RELEASE, keys().withForced, List.of(bytes(hashField(holder)), publish()));
  }

  @Override
  default ScriptCall keep(String holder, long restMillis) {
    return new ScriptCall(
        KEEP, keys().withForced, List.of(bytes(hashField(holder)), publish(), bytes(restMillis)));
  }

  @Override
  default ScriptCall leave(String holder) {
    return new ScriptCall(LEAVE, keys().ofMost, List.of(bytes(hashField(holder)), publish()));
  }

  /** Returns a call that notifies the next writer: readers are notified together. */
  @Override
  default ScriptCall notifyNext() {
    return new ScriptCall(NOTIFY, keys().ofMost, List.of(publish()));
  }

  @Override
  default ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW,
        List.of(keys().lockKey, keys().prefixKey, keys().forcedKey, keys().readersKey),
        List.of(bytes(hashField(holder)), bytes(leaseMillis)));
  }

  @Override
  default ScriptCall forceRelease() {
    return new ScriptCall(
        FORCE, keys().withForced, List.of(bytes(side()), publish(), keys().forcedMarkMillis));
  }

  @Override
  default ScriptCall queryLease() {
    return new ScriptCall(
        INSPECT,
        List.of(keys().lockKey, keys().prefixKey, keys().readersKey),
        List.of(bytes(side())));
  }

  @Override
  default Heartbeat heartbeat(String holder) {
    WaiterQueue queue = keys().queue;
    return queue.heartbeat(
        keys().fair
            ? new ScriptCall(
                FAIR_HEARTBEAT,
                keys().ofMost,
                List.of(bytes(hashField(holder)), queue.heartbeatValidityMillis(), publish()))
            : unfairHeartbeat(holder));
  }
}
