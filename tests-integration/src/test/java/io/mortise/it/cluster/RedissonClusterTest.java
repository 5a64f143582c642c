package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterClients.WELL_WITHIN_A_RENEWAL;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisCluster;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson and Mortise on one cluster exclude and wake each other; leases are 30 s. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(120)
@Tag("redis-version")
class RedissonClusterTest {
  private static RedisCluster servers;
  private static LockClient mortise;
  private static RedissonClient redisson;

  @BeforeAll
  static void start() {
    servers = RedisCluster.builder().replicas(0).start();
    mortise = ClusterClients.client(servers);
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4);
    var cluster = config.useClusterServers();
    servers.uris().forEach(cluster::addNodeAddress);
    cluster.setMasterConnectionMinimumIdleSize(1).setMasterConnectionPoolSize(8);
    cluster.setSubscriptionConnectionMinimumIdleSize(1);
    redisson = Redisson.create(config);
  }

  @AfterAll
  static void stop() {
    redisson.shutdown();
    mortise.close();
    servers.close();
  }

  @Test
  void whoWaitsForRedissonIsExcludedAndThenWoken() throws Exception {
    String name = Names.fresh();
    RLock held = redisson.getLock(name);
    DistributedLock lock = new RedisLock(mortise, name);
    try (TestThreads crew = new TestThreads()) {
      held.lock();
      assertFalse(lock.tryLock());
      Future<Boolean> woken = crew.ask(() -> lock.tryLock(1, TimeUnit.MINUTES));
      await().until(() -> !ClusterClients.heardAt(servers, name).isEmpty());
      held.unlock();
      assertTrue(woken.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS));
      assertFalse(redisson.getLock(name).tryLock());
    }
  }

  @Test
  void redissonIsExcludedAndThenWoken() throws Exception {
    String name = Names.fresh();
    DistributedLock held = new RedisLock(mortise, name);
    RLock lock = redisson.getLock(name);
    try (TestThreads crew = new TestThreads()) {
      held.lock();
      Future<Boolean> woken = crew.ask(() -> lock.tryLock(1, TimeUnit.MINUTES));
      await().until(() -> !ClusterClients.heardAt(servers, name).isEmpty());
      assertFalse(woken.isDone());
      held.unlock();
      assertTrue(woken.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS));
      assertFalse(held.tryLock());
    }
  }
}
