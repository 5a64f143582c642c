package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterChannels.subscribedNodes;
import static io.mortise.it.support.LongLease.WELL_WITHIN_A_RENEWAL;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerUris;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisCluster;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson and Mortise on one cluster exclude and wake each other; leases are 30 s. */
@SuppressWarnings("LockNotBeforeTry") // the order of the holds is what is tested
@Timeout(120)
@Tag("redis-version")
class RedissonClusterTest {
  private static RedisCluster servers;
  private static LockClient mortise;
  private static RedissonClient redisson;

  private final String name = Names.fresh();

  @BeforeAll
  static void start() {
    servers = RedisCluster.builder().replicas(0).start();
    mortise = LockClient.create(ServerUris.of(servers), LongLease.OPTIONS);
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
  void aWaiterIsExcludedAndThenWokenByRedisson() throws Exception {
    assertExcludesAndWakes(redisson.getLock(name), new RedisLock(mortise, name));
  }

  @Test
  void redissonIsExcludedAndThenWoken() throws Exception {
    assertExcludesAndWakes(new RedisLock(mortise, name), redisson.getLock(name));
  }

  private void assertExcludesAndWakes(Lock held, Lock other) throws Exception {
    try (TestThreads threads = new TestThreads()) {
      held.lock();
      assertFalse(other.tryLock());
      Future<Boolean> waiter = threads.ask(() -> other.tryLock(1, TimeUnit.MINUTES));
      await().until(() -> !subscribedNodes(servers, name).isEmpty());
      assertFalse(waiter.isDone());
      held.unlock();
      assertTrue(waiter.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS));
      assertFalse(held.tryLock());
    }
  }
}
