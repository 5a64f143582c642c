package io.mortise.it.support;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One server, and two clients of each kind on it. */
public final class RedissonPeers extends TwoClients {
  /** The lease of a hold of either kind, which a dead client would leave. */
  public static final Duration LONG_LEASE = Duration.ofSeconds(30);

  /** A wait that takes less than this did not wait for {@link #LONG_LEASE} to end. */
  public static final Duration PROMPT = Duration.ofSeconds(5);

  private RedissonClient redisson;
  private RedissonClient otherRedisson;

  public RedissonPeers() {
    super(LONG_LEASE);
  }

  public RedissonPeers(LockOptions options) {
    super(options);
  }

  @Override
  public void start() {
    super.start();
    redisson = redisson(LONG_LEASE);
    otherRedisson = redisson(LONG_LEASE);
  }

  @Override
  public void close() {
    otherRedisson.shutdown();
    redisson.shutdown();
    super.close();
  }

  public RedissonClient redisson() {
    return redisson;
  }

  public RedissonClient otherRedisson() {
    return otherRedisson;
  }

  /** Returns a new client of Redisson, which renews its holds to that time. */
  public RedissonClient redisson(Duration watchdog) {
    return redisson(server().uri(), watchdog);
  }

  public static RedissonClient redisson(String uri, Duration watchdog) {
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

  /** Returns how many connections listen for the release of this lock. */
  public long subscribers(String name) {
    String tagged = name.contains("{") ? name : "{" + name + "}";
    List<?> answer =
        (List<?>) server().command("PUBSUB", "NUMSUB", "redisson_lock__channel:" + tagged);
    return (Long) answer.get(1);
  }

  public void awaitSubscribers(String name, long count) {
    await().until(() -> subscribers(name) == count);
  }

  public long pttl(String key) {
    return (Long) server().command("PTTL", key);
  }
}
