package io.mortise.fairlock;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import java.util.List;

/**
 * The keys and the constant arguments of one fair lock, encoded once for all of its holds.
 *
 * <p><b>Threads.</b> Immutable; any thread may read it.
 */
final class FairLockKeys {
  final LockName name;
  final String channelPrefix;
  final byte[] lockKey;
  final byte[] tokenKey;
  final byte[] forcedKey;
  final byte[] tokenRetentionMillis;
  final byte[] forcedMarkMillis;
  final WaiterQueue queue;

  /** The keys of the scripts. */
  final List<byte[]> ofHeartbeat;

  final List<byte[]> ofLeave;
  final List<byte[]> ofRelease;

  FairLockKeys(LockName name, LockOptions options, WaiterTimeout waiterTimeout) {
    this.name = name;
    this.channelPrefix = name.derive("redisson_lock__channel");
    this.lockKey = bytes(name.value());
    this.tokenKey = bytes(name.tokenKey());
    this.forcedKey = bytes(name.forcedKey());
    this.tokenRetentionMillis = bytes(options.tuning().tokenRetention().toMillis());
    this.forcedMarkMillis = bytes(options.lease().toMillis());
    this.queue = new WaiterQueue(name, waiterTimeout);
    byte[] channels = bytes(channelPrefix);
    byte[] plainWaiters = bytes(name.waitersKey());
    this.ofHeartbeat = List.of(lockKey, channels, queue.key(), queue.deadlinesKey());
    this.ofLeave = List.of(lockKey, channels, queue.key(), queue.deadlinesKey(), plainWaiters);
    this.ofRelease =
        List.of(lockKey, channels, forcedKey, queue.key(), queue.deadlinesKey(), plainWaiters);
  }
}
