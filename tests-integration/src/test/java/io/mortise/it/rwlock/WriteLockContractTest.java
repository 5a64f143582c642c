package io.mortise.it.rwlock;

import io.mortise.core.DistributedLock;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.WaitContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The fair write lock is an exclusive lock like every other. */
@Tag("redis-version")
class WriteLockContractTest {
  private static TwoClients rig;

  private interface Fair extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return rig.here(name, true).writeLock();
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return rig.there(name, true).writeLock();
    }
  }

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(1), TwoClients.NO_SIGNS);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @Nested
  class FairAsALock extends LockContract implements Fair {}

  @Nested
  class FairWaiting extends WaitContract implements Fair {}

  @Nested
  class FairLeases extends LeaseContract implements Fair {}
}
