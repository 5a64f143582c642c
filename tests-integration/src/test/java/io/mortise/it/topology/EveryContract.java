package io.mortise.it.topology;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentedLock;
import io.mortise.testkit.AtLeastContract;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
import io.mortise.testkit.ShortFormsContract;
import io.mortise.testkit.WaitContract;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * All contracts for every lock family, with the servers and clients of a subclass. {@code RedLock}
 * is not among them: {@code io.mortise.it.redlock} tests it on independent servers.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Tag("redis-version")
@Execution(ExecutionMode.CONCURRENT) // the tests wait more than they compute
abstract class EveryContract {
  private Clients clients;

  /** Starts the servers and the clients. */
  abstract Clients start(Path directory) throws Exception;

  @BeforeAll
  void open(@TempDir Path directory) throws Exception {
    clients = start(directory);
    warm(clients.here());
    warm(clients.there());
  }

  /**
   * Loads and compiles what later commands use. Over TLS, on a busy machine, that may take longer
   * than a command has; lock() then tries again, and the attempts of the contracts do not.
   */
  private static void warm(LockClient client) {
    RedisLock lock = new RedisLock(client, "contract:first");
    lock.lock();
    lock.unlock();
  }

  @AfterAll
  void close() {
    clients.close();
  }

  /** A lock family with the clients of the test class. */
  interface Family extends LockFamily {
    Clients clients();

    DistributedLock of(LockClient client, String name);

    @Override
    default DistributedLock lock(String name) {
      return of(clients().here(), name);
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return of(clients().there(), name);
    }
  }

  /** {@link RedisLock}. */
  interface Plain extends Family {
    @Override
    default DistributedLock of(LockClient client, String name) {
      return new RedisLock(client, name);
    }
  }

  /** {@link RedisFairLock}. */
  interface Fair extends Family {
    @Override
    default DistributedLock of(LockClient client, String name) {
      return new RedisFairLock(client, name);
    }
  }

  /** The write lock of a {@link RedisReadWriteLock}. */
  interface Write extends Family {
    @Override
    default DistributedLock of(LockClient client, String name) {
      return new RedisReadWriteLock(client, name).writeLock();
    }
  }

  /** One segment of a {@link SegmentedLock}. */
  interface Segment extends Family {
    @Override
    default DistributedLock of(LockClient client, String name) {
      return new SegmentedLock(client, name, 2).segment(1);
    }

    @Override
    default String nameOf(String name) {
      return lock(name).name();
    }
  }

  /** {@link MultiLock} of two plain locks in one slot, and a fair lock in another. */
  interface Several extends Family {
    @Override
    default DistributedLock of(LockClient client, String name) {
      return new MultiLock(
          new RedisLock(client, name),
          new RedisLock(client, "{" + name + "}:b"),
          new RedisFairLock(client, name + ":c"));
    }

    @Override
    default String nameOf(String name) {
      return lock(name).name();
    }
  }

  abstract class Waiting extends WaitContract implements Family {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  abstract class Leases extends LeaseContract implements Family {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  abstract class ShortForms extends ShortFormsContract implements Family {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  abstract class AtLeast extends AtLeastContract implements Family {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  abstract class AsALock extends LockContract implements Family {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class PlainWaiting extends Waiting implements Plain {}

  @Nested
  class PlainLeases extends Leases implements Plain {}

  @Nested
  class FairShortForms extends ShortForms implements Fair {}

  @Nested
  class PlainAtLeast extends AtLeast implements Plain {}

  @Nested
  class FairAtLeast extends AtLeast implements Fair {}

  @Nested
  class WriteAtLeast extends AtLeast implements Write {}

  @Nested
  class SeveralAtLeast extends AtLeast implements Several {}

  @Nested
  class FairWaiting extends Waiting implements Fair {}

  @Nested
  class WriteWaiting extends Waiting implements Write {}

  @Nested
  class SeveralWaiting extends Waiting implements Several {}

  @Nested
  class PlainAsALock extends AsALock implements Plain {}

  @Nested
  class FairAsALock extends AsALock implements Fair {}

  @Nested
  class FairLeases extends Leases implements Fair {}

  @Nested
  class WriteAsALock extends AsALock implements Write {}

  @Nested
  class WriteLeases extends Leases implements Write {}

  @Nested
  class SegmentWaiting extends Waiting implements Segment {}

  @Nested
  class SegmentAsALock extends AsALock implements Segment {}

  @Nested
  class SegmentLeases extends Leases implements Segment {}

  @Nested
  class SegmentAtLeast extends AtLeast implements Segment {}

  @Nested
  class SeveralAsALock extends AsALock implements Several {}

  @Nested
  class SeveralLeases extends Leases implements Several {}
}
