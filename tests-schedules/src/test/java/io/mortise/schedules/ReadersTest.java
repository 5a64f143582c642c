package io.mortise.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers are inside together, a writer alone, and neither waits for ever. */
class ReadersTest {
  private static final Duration WITHIN = Duration.ofSeconds(1);

  private static RedisReadWriteLock lock(World world, int side, boolean fair) {
    LockClient client = world.side(side).get(0);
    return fair
        ? RedisReadWriteLock.fair(client, World.NAME)
        : new RedisReadWriteLock(client, World.NAME);
  }

  private static void read(World world, Section section, int side, boolean fair) throws Exception {
    DistributedLock lock = lock(world, side, fair).readLock();
    lock.lock();
    section.visit(lock, true, Thread::yield);
  }

  private static void write(World world, Section section, int side, boolean fair) throws Exception {
    DistributedLock lock = lock(world, side, fair).writeLock();
    lock.lock();
    section.visit(lock, false, Thread::yield);
  }

  /** The two readers of side 0 may share one hold in Redis. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readersOfOneClientShareAHoldBesideAWriter(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          world.start("reader 1", () -> read(world, section, 0, fair));
          world.start("reader 2", () -> read(world, section, 0, fair));
          world.start("writer", () -> write(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(3, section.visits());
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readersAndWritersOfBothClientsTakeTurns(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          world.start("reader 0", () -> read(world, section, 0, fair));
          world.start("reader 1", () -> read(world, section, 1, fair));
          world.start("writer 0", () -> write(world, section, 0, fair));
          world.start("writer 1", () -> write(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(4, section.visits());
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWriterReadsBeforeItLetsGo(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          world.start(
              "writer that reads",
              () -> {
                RedisReadWriteLock locks = lock(world, 0, fair);
                locks.writeLock().lock();
                section.visit(locks.writeLock(), false, () -> locks.readLock().lock());
                section.visit(locks.readLock(), true, Thread::yield);
              });
          world.start("reader", () -> read(world, section, 0, fair));
          world.start("writer", () -> write(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(4, section.visits());
        });
  }
}
