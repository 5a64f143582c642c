package io.mortise.it.rwlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The fair write lock is an exclusive lock like every other. */
@Tag("redis-version")
@Execution(ExecutionMode.CONCURRENT) // the tests wait more than they compute
class WriteLockContractTest {
  private static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(3));

  private interface Fair extends LockFamily {
    @Override
    default DistributedLock lock(String name) {
      return write(clients.here(), name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return write(clients.there(), name);
    }
  }

  private static DistributedLock write(LockClient client, String name) {
    return RedisReadWriteLock.fair(client, name, ReadWriteFixture.NO_HEARTBEAT).writeLock();
  }

  @BeforeAll
  static void start() {
    clients.start();
  }

  @AfterAll
  static void stop() {
    clients.close();
  }

  @Nested
  class FairAsALock extends LockContract implements Fair {}

  @Nested
  class FairWaiting extends WaitContract implements Fair {}

  @Nested
  class FairLeases extends LeaseContract implements Fair {}

  @Nested
  class FairShortForms extends ShortFormsContract implements Fair {}

  @Nested
  class FairAtLeast extends AtLeastContract implements Fair {}
}
