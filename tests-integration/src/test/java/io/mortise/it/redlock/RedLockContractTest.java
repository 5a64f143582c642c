package io.mortise.it.redlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import io.mortise.testkit.AtLeastContract;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.ShortFormsContract;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** A majority of five healthy servers. */
class RedLockContractTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofSeconds(3)).build();

  private static FaultyNodes nodes;
  private static QuorumClients here;
  private static QuorumClients there;

  private interface Family extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return here.lock(name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return there.lock(name);
    }

    /** When the majority is lost, the nodes whose lease goes on are released. */
    @Override
    default Duration keepsOthersOut(Duration lease) {
      return lease.minus(lease.dividedBy(100)).minusMillis(2);
    }
  }

  @BeforeAll
  static void start() {
    nodes = new FaultyNodes(5);
    here = nodes.direct(OPTIONS, Duration.ofSeconds(2));
    there = nodes.direct(OPTIONS, Duration.ofSeconds(2));
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

  @Nested
  class ShortForms extends ShortFormsContract implements Family {}

  @Nested
  class AtLeast extends AtLeastContract implements Family {}
}
