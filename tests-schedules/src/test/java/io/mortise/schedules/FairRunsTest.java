package io.mortise.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.schedules.Section.Losses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Three threads of one client, directly behind each other in the queue of a fair lock, and one of
 * another client behind them. The first grant covers the three.
 */
class FairRunsTest {
  private static final List<Integer> SIDES = List.of(0, 0, 0, 1);
  private static final Duration WITHIN = Duration.ofSeconds(60);

  /** What one of the threads does, or what strikes. */
  @FunctionalInterface
  private interface Step {
    void run(World world, List<Thread> waiters) throws Exception;
  }

  /**
   * Queues the threads one after the other behind a holder, which then unlocks.
   *
   * @param meanwhile runs at any moment after that
   * @return the threads that were served, in their order
   */
  private static List<Integer> served(World world, Section section, Step meanwhile)
      throws Exception {
    List<Integer> served = Collections.synchronizedList(new ArrayList<>());
    List<Thread> waiters = new ArrayList<>();
    DistributedLock holder = world.lock(1);
    holder.lock();
    for (int side : SIDES) {
      int number = waiters.size();
      waiters.add(
          world.start(
              "side %d thread %d".formatted(side, number),
              () -> visit(world, section, side, () -> served.add(number))));
      while (!world.redis().command("LLEN", queue()).equals(number + 1L)) {
        Thread.sleep(1);
      }
    }
    world.start("meanwhile", () -> meanwhile.run(world, waiters));
    try {
      holder.unlock();
    } catch (LeaseLostException forced) {
      // by what strikes
    }
    world.join(WITHIN);
    return served;
  }

  private static String queue() {
    return new LockName(World.NAME).derive("redisson_lock_queue");
  }

  private static void visit(World world, Section section, int side, Runnable stay)
      throws Exception {
    DistributedLock lock = world.lock(side);
    try {
      lock.lockInterruptibly();
    } catch (InterruptedException e) {
      return;
    } catch (LockException e) {
      if (!world.side(side).get(0).isClosed()) {
        throw e;
      }
      return;
    }
    section.visit(lock, false, stay::run);
  }

  @Test
  void theyAreServedInTheOrderOfArrival() throws Exception {
    World.explore(
        LockKind.FAIR,
        (world, section) -> {
          List<Integer> served = served(world, section, (w, waiters) -> {});
          assertEquals(List.of(0, 1, 2, 3), served);
        });
  }

  /** Another thread of the client joins at the tail while the run goes on. */
  @Test
  void oneThatArrivesLaterIsServedLast() throws Exception {
    World.explore(
        LockKind.FAIR,
        (world, section) -> {
          List<Integer> late = new ArrayList<>();
          List<Integer> served =
              served(world, section, (w, waiters) -> visit(w, section, 0, () -> late.add(4)));
          assertEquals(List.of(0, 1, 2, 3), served);
          assertEquals(List.of(4), late);
        });
  }

  @Test
  void oneThatIsInterruptedAtAnyMomentIsServedInItsTurnOrNotAtAll() throws Exception {
    World.explore(
        LockKind.FAIR,
        (world, section) -> {
          List<Integer> served = served(world, section, (w, waiters) -> waiters.get(1).interrupt());
          served.remove((Integer) 1);
          assertEquals(List.of(0, 2, 3), served);
        });
  }

  /** The release of the thread that is next learns of it, and not those that passed it on. */
  @Test
  void aForcedReleaseEndsTheRun() throws Exception {
    World.explore(
        LockKind.FAIR,
        LockOptions.defaults(),
        Losses.SOME_UNREPORTED,
        (world, section) -> {
          List<Integer> served = served(world, section, (w, waiters) -> w.lock(0).forceUnlock());
          assertEquals(List.of(0, 1, 2, 3), served.stream().sorted().toList());
        });
  }

  @Test
  void aReplyIsLost() throws Exception {
    World.explore(
        LockKind.FAIR,
        (world, section) -> {
          List<Integer> served = served(world, section, (w, waiters) -> w.redis().loseNextReply());
          assertEquals(List.of(0, 1, 2, 3), served);
        });
  }

  @Test
  void theClientIsClosed() throws Exception {
    World.explore(
        LockKind.FAIR,
        LockOptions.defaults(),
        Losses.SOME_UNREPORTED,
        (world, section) -> {
          List<Integer> served =
              served(world, section, (w, waiters) -> w.side(0).forEach(LockClient::close));
          assertTrue(served.contains(3), served::toString);
        });
  }
}
