package io.mortise.it.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.ProxiedServers;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.AtLeastContract;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.ShortFormsContract;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members of one family in one round trip, and members of all families on two servers. */
@Execution(ExecutionMode.CONCURRENT) // the tests wait more than they compute
class MultiLockContractTest {
  private static ProxiedServers servers;
  private static List<LockClient> here;
  private static List<LockClient> there;

  @BeforeAll
  static void start() {
    servers = new ProxiedServers(2);
    here = clients();
    there = clients();
  }

  private static List<LockClient> clients() {
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
    return servers.uris().stream().map(uri -> servers.client(uri, options)).toList();
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  private interface Family extends LockFamily {
    DistributedLock of(List<LockClient> clients, String name);

    @Override
    default DistributedLock lock(String name) {
      return of(here, name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return of(there, name);
    }
  }

  private interface Alike extends Family {
    @Override
    default DistributedLock of(List<LockClient> clients, String name) {
      LockClient client = clients.get(0);
      return new MultiLock(
          new RedisLock(client, name + ":b"),
          new RedisLock(client, name + ":a"),
          new RedisLock(client, name + ":c"));
    }

    @Override
    default String nameOf(String name) {
      return "[" + name + ":a, " + name + ":b, " + name + ":c]";
    }
  }

  private interface Mixed extends Family {
    @Override
    default DistributedLock of(List<LockClient> clients, String name) {
      LockClient client = clients.get(0);
      return new MultiLock(
          new RedisFairLock(client, name + ":fair"),
          new RedisLock(client, name + ":plain"),
          new MultiLock(
              new RedisLock(clients.get(1), name + ":second"),
              new RedisReadWriteLock(client, name + ":rw").writeLock()));
    }

    @Override
    default String nameOf(String name) {
      return lock(name).name();
    }
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

  @Nested
  class MixedShortForms extends ShortFormsContract implements Mixed {}

  @Nested
  class AlikeAtLeast extends AtLeastContract implements Alike {}

  @Nested
  class MixedAtLeast extends AtLeastContract implements Mixed {}
}
