package io.mortise.it.contract;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.testkit.LockFamily;
import java.time.Duration;
import java.util.function.Function;

/** Plain locks by two clients that share nothing but the server. */
final class TwoClients implements LockFamily, AutoCloseable {
  private final LockClient here;
  private final LockClient there;

  TwoClients(Function<LockOptions, LockClient> create) {
    LockOptions options = LockOptions.builder().lease(lease()).build();
    here = create.apply(options);
    there = create.apply(options);
  }

  static TwoClients of(String uri) {
    return new TwoClients(options -> LockClient.create(uri, options));
  }

  @Override
  public DistributedLock lock(String name) {
    return new RedisLock(here, name);
  }

  @Override
  public DistributedLock otherProcess(String name) {
    return new RedisLock(there, name);
  }

  @Override
  public Duration lease() {
    return Duration.ofSeconds(1);
  }

  @Override
  public void close() {
    here.close();
    there.close();
  }

  /** The contracts' view of clients that a test class keeps. */
  interface Family extends LockFamily {
    TwoClients clients();

    @Override
    default DistributedLock lock(String name) {
      return clients().lock(name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return clients().otherProcess(name);
    }
  }
}
