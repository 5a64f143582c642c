package io.mortise.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
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

  /** The write hold of side 0 may be handed on; the readers of both sides get in. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void writersOfOneClientHandTheirHoldOnBesideOthers(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          for (int i = 0; i < 3; i++) {
            world.start("writer 0." + i, () -> write(world, section, 0, fair));
          }
          world.start("writer 1", () -> write(world, section, 1, fair));
          world.start("reader 0", () -> read(world, section, 0, fair));
          world.start("reader 1", () -> read(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(6, section.visits());
        });
  }

  /** The next writer of its client would have its hold, if it had not read. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWriterReadsOnBesideTheWritersOfItsClient(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          for (int i = 0; i < 3; i++) {
            world.start(
                "writer that reads " + i,
                () -> {
                  RedisReadWriteLock locks = lock(world, 0, fair);
                  locks.writeLock().lock();
                  section.visit(locks.writeLock(), false, () -> locks.readLock().lock());
                  section.visit(locks.readLock(), true, Thread::yield);
                });
          }
          world.start("writer", () -> write(world, section, 0, fair));
          world.start("writer 1", () -> write(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(8, section.visits());
        });
  }

  /** Its read attempt and its release are under way at the same time. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWriterLeavesWhileItBeginsToRead(boolean fair) throws Exception {
    World.explore(
        LockKind.WRITE,
        (world, section) -> {
          for (int i = 0; i < 2; i++) {
            world.start(
                "writer that reads " + i,
                () -> {
                  RedisReadWriteLock locks = lock(world, 0, fair);
                  List<Future<Optional<Lease>>> reads = new ArrayList<>();
                  locks.writeLock().lock();
                  section.visit(
                      locks.writeLock(),
                      false,
                      () -> reads.add(locks.readLock().acquireAsync(WITHIN).toCompletableFuture()));
                  section.visit(reads.get(0).get().orElseThrow(), true, Thread::yield);
                });
          }
          world.start("writer", () -> write(world, section, 0, fair));
          world.start("writer 1", () -> write(world, section, 1, fair));
          world.join(WITHIN);
          assertEquals(6, section.visits());
        });
  }
}
