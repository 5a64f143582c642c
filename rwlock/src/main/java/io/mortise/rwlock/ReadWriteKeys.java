package io.mortise.rwlock;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys and the constant arguments of one read-write lock, encoded once for all of its holds.
 *
 * <p><b>Threads.</b> Immutable; any thread may read it.
 */
final class ReadWriteKeys {
  final LockName name;
  final boolean fair;
  final String channel;
  final byte[] lockKey;
  final byte[] prefixKey;
  final byte[] intentKey;
  final byte[] waitersKey;
  final byte[] turnKey;
  final byte[] forcedKey;
  final byte[] readersKey;
  final byte[] tokenRetentionMillis;
  final byte[] forcedMarkMillis;

  /** The queue of a fair lock; its heartbeat interval is also that of other waiters. */
  final WaiterQueue queue;

  /** The keys that most scripts of the family get. */
  final List<byte[]> ofMost;

  final List<byte[]> withToken;
  final List<byte[]> withForced;

  ReadWriteKeys(LockName name, LockOptions options, boolean fair, WaiterTimeout waiterTimeout) {
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
    this.ofMost =
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
    this.withToken = ofMostAnd(bytes(name.tokenKey()));
    this.withForced = ofMostAnd(forcedKey);
  }

  private List<byte[]> ofMostAnd(byte[] key) {
    List<byte[]> all = new ArrayList<>(ofMost);
    all.add(key);
    return List.copyOf(all);
  }
}
