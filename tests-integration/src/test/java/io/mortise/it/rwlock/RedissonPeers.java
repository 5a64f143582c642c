package io.mortise.it.rwlock;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Clients of Redisson on a server of ours. */
final class RedissonPeers {
  private RedissonPeers() {}

  static RedissonClient connect(TwoClients rig, Duration watchdog) {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4).setLockWatchdogTimeout(watchdog.toMillis());
    config
        .useSingleServer()
        .setAddress(rig.server.uri())
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return Redisson.create(config);
  }
}
