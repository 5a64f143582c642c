package io.mortise.it.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** Members of one family in one round trip, and members of all families on two servers. */
class MultiLockContractTest {
  private static RedisServer server;
  private static RedisServer second;
  private static Site here;
  private static Site there;

  /** The clients of one process. */
  private record Site(LockClient client, LockClient second) implements AutoCloseable {
    static Site start() {
      LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(1)).build();
      return new Site(
          LockClient.create(server.uri(), options),
          LockClient.create(MultiLockContractTest.second.uri(), options));
    }

    DistributedLock alike(String name) {
      return new MultiLock(
          new RedisLock(client, name + ":b"),
          new RedisLock(client, name + ":a"),
          new RedisLock(client, name + ":c"));
    }

    DistributedLock mixed(String name) {
      return new MultiLock(
          new RedisFairLock(client, name + ":fair"),
          new RedisLock(client, name + ":plain"),
          new MultiLock(
              new RedisLock(second, name + ":second"),
              new RedisReadWriteLock(client, name + ":rw").writeLock()));
    }

    @Override
    public void close() {
      client.close();
      second.close();
    }
  }

  private interface Alike extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return here.alike(name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return there.alike(name);
    }

    @Override
    default String nameOf(String name) {
      return "[" + name + ":a, " + name + ":b, " + name + ":c]";
    }
  }

  private interface Mixed extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return here.mixed(name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return there.mixed(name);
    }

    @Override
    default String nameOf(String name) {
      return here.mixed(name).name();
    }
  }

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    second = RedisServer.start();
    here = Site.start();
    there = Site.start();
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    server.close();
    second.close();
  }

  @Nested
  class AlikeAsALock extends LockContract implements Alike {}

  @Nested
  class AlikeWaiting extends WaitContract implements Alike {}

  @Nested
  class AlikeLeases extends LeaseContract implements Alike {}

  @Nested
  class MixedAsALock extends LockContract implements Mixed {}

  @Nested
  class MixedWaiting extends WaitContract implements Mixed {}

  @Nested
  class MixedLeases extends LeaseContract implements Mixed {}
}
