package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.QueueingProtocol.Heartbeat;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys of one read-write lock, and the calls that readers and writers share. A <em>hold</em> is
 * a field of the hash: a reader's holder id, or a writer's with the suffix {@code :write}.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class ReadWriteScripts {
  static final String READ_LOCK = "read lock";
  static final String WRITE_LOCK = "write lock";

  private static final Script RELEASE = Script.load("rw/release");
  private static final Script KEEP = Script.load("rw/keep");
  private static final Script LEAVE = Script.load("rw/leave");
  private static final Script NOTIFY = Script.load("rw/notify");
  private static final Script RENEW = Script.load("rw/renew");
  private static final Script FORCE = Script.load("rw/force");
  private static final Script INSPECT = Script.load("rw/inspect");
  private static final Script FAIR_HEARTBEAT = Script.load("rw/fair_heartbeat");

  final LockName name;
  final boolean fair;
  final byte[] lockKey;
  final byte[] intentKey;
  final byte[] waitersKey;
  final byte[] turnKey;
  final byte[] tokenRetentionMillis;

  /** The queue of a fair lock; its heartbeat interval is also that of other waiters. */
  final WaiterQueue queue;

  private final String channel;
  private final byte[] prefixKey;
  private final byte[] forcedKey;
  private final byte[] readersKey;
  private final byte[] forcedMarkMillis;

  /** The keys that most scripts of the family get. */
  private final List<byte[]> keys;

  private final List<byte[]> keysAndToken;
  private final List<byte[]> keysAndForced;

  ReadWriteScripts(LockName name, LockOptions options, boolean fair, WaiterTimeout waiterTimeout) {
    this.name = name;
    this.fair = fair;
    this.channel = name.derive("redisson_rwlock");
    this.lockKey = bytes(name.value());
    this.prefixKey = bytes(name.tagged());
    this.intentKey = bytes(name.derive("mortise_write_intent"));
    this.waitersKey = bytes(name.derive("mortise_read_waiters"));
    this.turnKey = bytes(name.derive("mortise_read_turn"));
    this.queue = new WaiterQueue(name, waiterTimeout);
    this.forcedKey = bytes(name.derive("mortise_forced_holds"));
    this.readersKey = bytes(name.derive("mortise_readers"));
    this.tokenRetentionMillis = bytes(options.tuning().tokenRetention().toMillis());
    this.forcedMarkMillis = bytes(options.lease().toMillis());
    this.keys =
        List.of(
            lockKey,
            prefixKey,
            bytes(channel),
            intentKey,
            waitersKey,
            turnKey,
            queue.key(),
            queue.deadlinesKey(),
            readersKey);
    this.keysAndToken = with(bytes(name.tokenKey()));
    this.keysAndForced = with(forcedKey);
  }

  private List<byte[]> with(byte[] key) {
    List<byte[]> all = new ArrayList<>(keys);
    all.add(key);
    return List.copyOf(all);
  }

  /** Returns the hold of a writer. */
  static String writeHold(String holder) {
    return holder + ":write";
  }

  List<byte[]> keys() {
    return keys;
  }

  List<byte[]> keysAndToken() {
    return keysAndToken;
  }

  /** Returns the channel of a waiter: in the queue of a fair lock each has its own. */
  String channel(String hold) {
    return fair ? channel + ":" + hold : channel;
  }

  /**
   * Returns the channel of a writer that is registered: in a lock that is not fair its client's.
   */
  String channelOfWriter(String hold) {
    return fair ? channel(hold) : NotifyingProtocol.channelOfClient(channel, hold);
  }

  /** Returns the channel of readers that wait: in a lock that is not fair one for all of them. */
  String channelOfReader(String hold) {
    return fair ? channel(hold) : channel + ":readers";
  }

  ScriptCall release(String hold) {
    return new ScriptCall(RELEASE, keysAndForced, List.of(bytes(hold), publish()));
  }

  ScriptCall keep(String hold, long restMillis) {
    return new ScriptCall(KEEP, keysAndForced, List.of(bytes(hold), publish(), bytes(restMillis)));
  }

  ScriptCall leave(String hold) {
    return new ScriptCall(LEAVE, keys, List.of(bytes(hold), publish()));
  }

  ScriptCall notifyNext() {
    return new ScriptCall(NOTIFY, keys, List.of(publish()));
  }

  ScriptCall renew(String hold, long leaseMillis) {
    return new ScriptCall(
        RENEW,
        List.of(lockKey, prefixKey, forcedKey, readersKey),
        List.of(bytes(hold), bytes(leaseMillis)));
  }

  ScriptCall forceRelease(String side) {
    return new ScriptCall(FORCE, keysAndForced, List.of(bytes(side), publish(), forcedMarkMillis));
  }

  ScriptCall queryLease(String side) {
    return new ScriptCall(INSPECT, List.of(lockKey, prefixKey, readersKey), List.of(bytes(side)));
  }

  Heartbeat queueHeartbeat(String hold) {
    return queue.heartbeat(
        new ScriptCall(
            FAIR_HEARTBEAT,
            keys,
            List.of(bytes(hold), queue.heartbeatValidityMillis(), publish())));
  }
}
