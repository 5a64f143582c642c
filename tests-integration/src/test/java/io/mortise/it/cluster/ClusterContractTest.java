package io.mortise.it.cluster;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fair.RedisFairLock;
import io.mortise.multi.MultiLock;
import io.mortise.readwrite.RedisReadWriteLock;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.RedisClusterClient;

/** Locks on a cluster; one client by URI, the other on a Jedis client. */
@Tag("redis-version")
class ClusterContractTest {
  private static RedisCluster servers;
  private static RedisClusterClient jedis;
  private static LockClient here;
  private static LockClient there;

  private interface Plain extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return new RedisLock(here, name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return new RedisLock(there, name);
    }
  }

  private interface Fair extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return new RedisFairLock(here, name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return new RedisFairLock(there, name);
    }
  }

  private interface Write extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return new RedisReadWriteLock(here, name).writeLock();
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return new RedisReadWriteLock(there, name).writeLock();
    }
  }

  /** Two of one slot, and one of another. */
  private interface Several extends LockFamily {
    private static DistributedLock of(LockClient client, String name) {
      return new MultiLock(
          new RedisLock(client, name),
          new RedisLock(client, "{" + name + "}:b"),
          new RedisLock(client, name + ":c"));
    }

    @Override
    default DistributedLock lock(String name) {
      return of(here, name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return of(there, name);
    }

    @Override
    default String nameOf(String name) {
      return lock(name).name();
    }
  }

  @BeforeAll
  static void start() {
    servers = RedisCluster.builder().replicas(0).start();
    jedis = RedisClusterClient.create(servers.hostPorts());
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(1)).build();
    here =
        LockClient.create(
            servers.hostPorts().stream()
                .map(Object::toString)
                .collect(Collectors.joining(",", "redis://", "")),
            options);
    there = LockClient.create(jedis, options);
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    jedis.close();
    servers.close();
  }

  @Nested
  class AsALock extends LockContract implements Plain {}

  @Nested
  class Waiting extends WaitContract implements Plain {}

  @Nested
  class Leases extends LeaseContract implements Plain {}

  @Nested
  class FairWaiting extends WaitContract implements Fair {}

  @Nested
  class WriteWaiting extends WaitContract implements Write {}

  @Nested
  class SeveralAsALock extends LockContract implements Several {}

  @Nested
  class SeveralWaiting extends WaitContract implements Several {}
}
