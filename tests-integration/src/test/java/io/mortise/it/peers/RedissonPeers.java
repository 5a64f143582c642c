package io.mortise.it.peers;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One server, and clients of both kinds on it. */
final class RedissonPeers implements AutoCloseable {
  /** So long a hold of a dead client of either kind would last. */
  static final Duration LONG_LEASE = Duration.ofSeconds(30);

  /** What takes less than this did not wait for {@link #LONG_LEASE} to end. */
  static final Duration PROMPT = Duration.ofSeconds(5);

  final RedisServer server = RedisServer.start();
  final LockClient mortise = mortise(LONG_LEASE);
  final RedissonClient redisson = redisson(LONG_LEASE);

  LockClient mortise(Duration lease) {
    return LockClient.create(server.uri(), LockOptions.builder().lease(lease).build());
  }

  RedissonClient redisson(Duration watchdog) {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4).setLockWatchdogTimeout(watchdog.toMillis());
    config
        .useSingleServer()
        .setAddress(server.uri())
        .setConnectionMinimumIdleSize(1)
        .setConnectionPoolSize(16)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return Redisson.create(config);
  }

  /** How many connections listen for the release of this lock. */
  long listeners(String name) {
    String tagged = name.contains("{") ? name : "{" + name + "}";
    List<?> answer =
        (List<?>) server.command("PUBSUB", "NUMSUB", "redisson_lock__channel:" + tagged);
    return (Long) answer.get(1);
  }

  void awaitListeners(String name, long count) {
    await().until(() -> listeners(name) == count);
  }

  long pttl(String key) {
    return (Long) server.command("PTTL", key);
  }

  @Override
  public void close() {
    redisson.shutdown();
    mortise.close();
    server.close();
  }
}
