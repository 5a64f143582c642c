package io.mortise.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads of two clients want one lock, and no fault strikes: one is inside at a time, each comes
 * in without a waiter's poll, tokens rise, and nothing remains.
 */
class ContentionTest {
  /** Two threads share a client, so that the hold may be handed from one to the other. */
  @ParameterizedTest
  @EnumSource
  void threadsOfTwoClientsLockAndUnlock(LockKind kind) throws Exception {
    World.explore(
        kind,
        (world, section) -> {
          for (int i = 0; i < 3; i++) {
            int side = i / 2;
            world.start("side " + side + " thread " + i, () -> visit(world, section, side));
          }
          world.join(kind.maxLateness);
          assertEquals(3, section.visits());
        });
  }

  private static void visit(World world, Section section, int side) throws Exception {
    DistributedLock lock = world.lock(side);
    lock.lock();
    section.visit(lock, false, Thread::yield);
  }

  /** A thread reaches the lock again and again, so that releases and attempts overlap. */
  @ParameterizedTest
  @EnumSource
  void twoClientsAlternate(LockKind kind) throws Exception {
    World.explore(
        kind,
        (world, section) -> {
          for (int i = 0; i < 2; i++) {
            int side = i;
            world.start(
                "side " + side,
                () -> {
                  visit(world, section, side);
                  visit(world, section, side);
                });
          }
          world.join(kind.maxLateness);
          assertEquals(4, section.visits());
        });
  }

  /**
   * The waits end at about the moment at which the holder leaves. One thread gets the lock, but a
   * quorum may be split among three threads for the whole of a short wait.
   */
  @ParameterizedTest
  @EnumSource
  void aBoundedWaitEndsWithTheLockOrWithout(LockKind kind) throws Exception {
    World.explore(
        kind,
        (world, section) -> {
          for (int i = 0; i < 3; i++) {
            int side = i / 2;
            world.start(
                "side " + side + " thread " + i,
                () -> {
                  DistributedLock lock = world.lock(side);
                  if (lock.tryLock(Duration.ofMillis(2))) {
                    section.visit(lock, false, () -> Thread.sleep(2));
                  }
                });
          }
          world.join(kind.maxLateness);
          assertTrue(section.visits() > 0 || kind == LockKind.RED);
        });
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptEndsAWaitOrComesTooLate(LockKind kind) throws Exception {
    World.explore(
        kind,
        (world, section) -> {
          world.start("holder", () -> visit(world, section, 0));
          world.start("behind", () -> visit(world, section, 1));
          Thread waiter =
              world.start(
                  "waiter",
                  () -> {
                    DistributedLock lock = world.lock(1);
                    try {
                      lock.lockInterruptibly();
                    } catch (InterruptedException e) {
                      return;
                    }
                    section.visit(lock, false, Thread::yield);
                  });
          world.start("interrupter", waiter::interrupt);
          world.join(kind.maxLateness);
          assertTrue(section.visits() >= 2);
        });
  }

  /** A re-entry that needs a longer lease lengthens the hold while others wait for it. */
  @ParameterizedTest
  @EnumSource
  void aReentryWithALongerLeaseLeavesNothing(LockKind kind) throws Exception {
    World.explore(
        kind,
        (world, section) -> {
          world.start(
              "side 0",
              () -> {
                DistributedLock lock = world.lock(0);
                lock.withLease(Duration.ofSeconds(20)).lock();
                section.visit(
                    lock,
                    false,
                    () -> {
                      lock.withLease(Duration.ofHours(1)).lock();
                      lock.unlock();
                    });
              });
          world.start("side 1", () -> visit(world, section, 1));
          world.start("side 1 too", () -> visit(world, section, 1));
          world.join(kind.maxLateness);
        });
  }
}
