package io.mortise.artefacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contracts and extensions of the test kit, with the JUnit that this build names. */
class TestKitTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofSeconds(3)).build();

  private static InMemoryRedis redis;
  private static LockClient here;
  private static LockClient there;

  @BeforeAll
  static void start() {
    redis = InMemoryRedis.start();
    here = redis.client(OPTIONS);
    there = redis.client(OPTIONS);
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Test
  void theJUnitIsTheOneThatIsNamed() {
    String file = Test.class.getProtectionDomain().getCodeSource().getLocation().getPath();

    assertTrue(file.endsWith("-" + System.getProperty("junit.named") + ".jar"), file);
  }

  interface Plain extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return new RedisLock(here, name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return new RedisLock(there, name);
    }
  }

  @Nested
  class AsALock extends LockContract implements Plain {}

  @Nested
  class Leases extends LeaseContract implements Plain {}

  @Nested
  class Waiting extends WaitContract implements Plain {}

  @Nested
  @ExtendWith(InMemoryRedisExtension.class)
  class WithARedisInMemory {
    @RepeatedTest(2)
    void eachTestHasItsOwn(InMemoryRedis redis, LockClient locks) {
      assertEquals(0L, redis.command("DBSIZE"));
      assertTrue(new RedisLock(locks, "order:42").tryLock());
      assertEquals(1L, redis.command("EXISTS", "order:42"));
    }
  }

  @Nested
  @Execution(ExecutionMode.SAME_THREAD) // one server
  @ExtendWith(RedisServerExtension.class)
  class WithAServer {
    private static RedisServer first;

    @RepeatedTest(2)
    void theTestsShareOneAndFindItEmpty(RedisServer server, LockClient locks) {
      assertTrue(first == null || first == server);
      first = server;
      assertEquals(0L, server.command("DBSIZE"));
      assertTrue(new RedisLock(locks, "order:42").tryLock());
    }
  }
}
