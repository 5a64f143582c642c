package io.mortise.it.topology;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.LeaseContract;
import io.mortise.testkit.LockContract;
import io.mortise.testkit.LockFamily;
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
 * The contracts, for every family, on servers that a subclass starts and clients that reach them in
 * its way. {@code RedLock} is not among them: it needs independent servers, and has them in {@code
 * io.mortise.it.redlock}.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Tag("redis-version")
@Execution(ExecutionMode.CONCURRENT) // they wait more than they compute
abstract class EveryContract {
  private Clients clients;

  /** Starts the servers and the clients. */
  abstract Clients start(Path directory) throws Exception;

  @BeforeAll
  void open(@TempDir Path directory) throws Exception {
    clients = start(directory);
  }

  @AfterAll
  void close() {
    clients.close();
  }

  /** One kind of lock, on the clients of the test class. */
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

  /** {@link MultiLock}: two plain ones of one slot, a fair one of another. */
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

  @Nested
  class PlainWaiting extends WaitContract implements Plain {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class PlainLeases extends LeaseContract implements Plain {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class FairWaiting extends WaitContract implements Fair {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class WriteWaiting extends WaitContract implements Write {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class SeveralWaiting extends WaitContract implements Several {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class PlainAsALock extends LockContract implements Plain {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class FairAsALock extends LockContract implements Fair {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class FairLeases extends LeaseContract implements Fair {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class WriteAsALock extends LockContract implements Write {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class WriteLeases extends LeaseContract implements Write {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class SeveralAsALock extends LockContract implements Several {
    @Override
    public Clients clients() {
      return clients;
    }
  }

  @Nested
  class SeveralLeases extends LeaseContract implements Several {
    @Override
    public Clients clients() {
      return clients;
    }
  }
}
