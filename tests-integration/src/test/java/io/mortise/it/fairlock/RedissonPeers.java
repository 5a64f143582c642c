package io.mortise.it.fairlock;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One server, and two clients of each kind on it. */
final class RedissonPeers implements AutoCloseable {
  /** So long a hold of a dead client of either kind would last. */
  static final Duration LONG_LEASE = Duration.ofSeconds(30);

  final RedisServer server = RedisServer.start();
  final LockClient mortise = mortise(server.uri(), LONG_LEASE);
  final LockClient otherMortise = mortise(server.uri(), LONG_LEASE);
  final RedissonClient redisson = redisson(server.uri(), LONG_LEASE);
  final RedissonClient otherRedisson = redisson(server.uri(), LONG_LEASE);

  static LockClient mortise(String uri, Duration lease) {
    return LockClient.create(uri, LockOptions.builder().lease(lease).build());
  }

  static RedissonClient redisson(String uri, Duration watchdog) {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4).setLockWatchdogTimeout(watchdog.toMillis());
    config
        .useSingleServer()
        .setAddress(uri)
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return Redisson.create(config);
  }

  @Override
  public void close() {
    otherRedisson.shutdown();
    redisson.shutdown();
    otherMortise.close();
    mortise.close();
    server.close();
  }
}
