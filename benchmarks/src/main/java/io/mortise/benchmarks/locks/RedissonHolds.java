package io.mortise.benchmarks.locks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Locks of one thread, renewed by Redisson's watchdog. */
final class RedissonHolds implements Holds {
  private final RedissonClient client;
  private final List<RLock> locks = new ArrayList<>();

  RedissonHolds(String uri, Duration lease) {
    Config config = RedissonLocks.config(uri, false);
    config.setLockWatchdogTimeout(lease.toMillis());
    client = Redisson.create(config);
  }

  @Override
  public void take(String prefix, int count) {
    for (int i = 0; i < count; i++) {
      RLock lock = client.getLock(prefix + i);
      if (!lock.tryLock()) {
        throw new IllegalStateException("'%s' is held already".formatted(lock.getName()));
      }
      locks.add(lock);
    }
  }

  @Override
  public Section section(MeasuredLock kind, String name) {
    return new LockSection(
        kind == MeasuredLock.READ
            ? client.getReadWriteLock(name).readLock()
            : client.getLock(name));
  }

  /** Redisson does not notify of a loss, so each lock is asked. */
  @Override
  public int lost() {
    return (int) locks.stream().filter(lock -> !lock.isHeldByCurrentThread()).count();
  }
}
