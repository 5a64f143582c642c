package io.mortise.it.redlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** A majority of five servers that are all well. */
class RedLockContractTest {
  private static Nodes nodes;

  private interface Family extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return nodes.lock(name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return nodes.otherProcess(name);
    }
  }

  @BeforeAll
  static void start() {
    nodes = Nodes.start(5, LockOptions.builder().lease(Duration.ofSeconds(1)).build());
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Nested
  class AsALock extends LockContract implements Family {}

  @Nested
  class Waiting extends WaitContract implements Family {}

  @Nested
  class Leases extends LeaseContract implements Family {}
}
