package io.mortise.it.sentinel;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fair.RedisFairLock;
import io.mortise.readwrite.RedisReadWriteLock;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import redis.clients.jedis.RedisSentinelClient;

/** Locks on the master that sentinels name; one client by URI, the other on a Jedis client. */
class SentinelContractTest {
  private static RedisSentinels servers;
  private static RedisSentinelClient jedis;
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

  @BeforeAll
  static void start() {
    servers = RedisSentinels.start();
    jedis = Watched.jedis(servers);
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(1)).build();
    here = LockClient.create(Watched.uri(servers), options);
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
}
