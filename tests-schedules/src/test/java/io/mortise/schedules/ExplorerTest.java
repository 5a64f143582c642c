package io.mortise.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.CallerWait.InterruptibleWait;
import io.mortise.schedules.Section.Losses;
import io.mortise.schedules.runtime.Schedule;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The explorer finds faults that need one or two switches, and finds them again by their seeds. */
@SuppressWarnings({"ThreadPriorityCheck", "WaitNotInLoop"}) // defects, made on purpose
class ExplorerTest {
  private static final int EXECUTIONS = 500;

  private static void race(Explorer.Scenario... steps) throws InterruptedException {
    Thread[] threads = new Thread[steps.length];
    for (int i = 0; i < steps.length; i++) {
      Explorer.Scenario step = steps[i];
      threads[i] =
          new Thread(
              () -> {
                try {
                  step.run();
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              },
              "racer " + i);
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void checkThenAct() throws InterruptedException {
    AtomicBoolean taken = new AtomicBoolean();
    AtomicInteger inside = new AtomicInteger();
    Explorer.Scenario lock =
        () -> {
          if (!taken.get()) {
            taken.set(true);
            assertEquals(1, inside.incrementAndGet());
            inside.decrementAndGet();
            taken.set(false);
          }
        };
    race(lock, lock);
  }

  @Test
  void twoThreadsInsideAreFoundAndFoundAgain() throws Exception {
    long seed = Explorer.exploreFaulty(EXECUTIONS, ExplorerTest::checkThenAct);
    int steps = assertFails(seed, ExplorerTest::checkThenAct).steps();
    Schedule again = assertFails(seed, ExplorerTest::checkThenAct);
    assertEquals(steps, again.steps());
    assertTrue(again.trace().contains("checkThenAct"), again.trace());
  }

  /** Otherwise a slow machine would be taken for one whose wall clock jumps. */
  @Test
  void theWallClockIsThatOfTheExecution() throws Exception {
    InstantSource wall = InstantSource.system();
    Throwable failure =
        new Schedule(1, EXECUTIONS, false)
            .run(
                () -> {
                  Instant before = wall.instant();
                  LockSupport.parkNanos(TimeUnit.HOURS.toNanos(1));
                  Duration passed = Duration.between(before, wall.instant());
                  assertTrue(passed.compareTo(Duration.ofHours(1)) >= 0, passed::toString);
                });
    assertNull(failure);
  }

  /** Of whole clients too: their ids, jitter and statistics follow the seed. */
  @ParameterizedTest
  @EnumSource(names = {"FAIR", "RED"})
  void aSeedGivesTheSameExecutionAgain(LockKind kind) throws Exception {
    Explorer.Scenario scenario =
        World.scenario(
            kind,
            LockOptions.defaults(),
            Losses.NONE,
            (world, section) -> {
              for (int i = 0; i < 2; i++) {
                DistributedLock lock = world.lock(i);
                world.start(
                    "side " + i,
                    () -> {
                      lock.lock();
                      section.visit(lock, false, Thread::yield);
                    });
              }
              world.start("fault", () -> world.servers.forEach(InMemoryRedis::breakConnections));
              world.join(Duration.ofMinutes(1));
            });
    int steps = Explorer.stepsOf(scenario);
    List<String> traces = traces(scenario, steps);
    assertEquals(traces, traces(scenario, steps));
    assertTrue(Set.copyOf(traces).size() > 1, "each seed gives the same execution");
  }

  private static List<String> traces(Explorer.Scenario scenario, int steps) throws Exception {
    List<String> traces = new ArrayList<>();
    for (long seed = 1; seed <= 10; seed++) {
      Schedule schedule = new Schedule(seed, steps, true);
      assertNull(schedule.run(() -> Explorer.run(scenario)));
      traces.add(schedule.steps() + " steps\n" + schedule.trace());
    }
    return traces;
  }

  /** A loop over many variables has few steps, and the seed decides in which rounds. */
  @Test
  void aLongLoopHasFewStepsButNotAlwaysTheSame() throws Exception {
    int rounds = 100;
    Set<Integer> interrupted = new HashSet<>();
    Explorer.Scenario scenario =
        () -> {
          AtomicIntegerArray slots = new AtomicIntegerArray(rounds);
          int[] done = new int[1];
          race(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  slots.set(i, 1);
                  done[0]++;
                }
              },
              () -> interrupted.add(done[0]));
        };
    int steps = Explorer.stepsOf(scenario);
    assertTrue(steps < rounds / 2, steps + " steps");
    for (long seed = 1; seed <= 10 * EXECUTIONS; seed++) {
      assertNull(new Schedule(seed, steps, false).run(() -> Explorer.run(scenario)));
    }
    assertTrue(interrupted.size() > rounds * 3 / 4, interrupted.size() + " places");
  }

  private static Schedule assertFails(long seed, Explorer.Scenario scenario) throws Exception {
    Schedule schedule = new Schedule(seed, Explorer.stepsOf(scenario), true);
    assertNotNull(schedule.run(() -> Explorer.run(scenario)));
    return schedule;
  }

  @Test
  void aWakeUpThatIsMissedIsFound() throws Exception {
    Explorer.exploreFaulty(
        EXECUTIONS,
        () -> {
          ReentrantLock lock = new ReentrantLock();
          Condition changed = lock.newCondition();
          AtomicBoolean ready = new AtomicBoolean();
          race(
              () -> {
                if (!ready.get()) { // outside the lock: the signal may come in between
                  lock.lock();
                  changed.await();
                  lock.unlock();
                }
              },
              () -> {
                lock.lock();
                ready.set(true);
                changed.signalAll();
                lock.unlock();
              });
        });
  }

  @Test
  void aDeadlockOfMonitorsIsFound() throws Exception {
    Explorer.exploreFaulty(
        EXECUTIONS,
        () -> {
          Object left = new Object();
          Object right = new Object();
          race(() -> nest(left, right), () -> nest(right, left));
        });
  }

  private static void nest(Object outer, Object inner) {
    synchronized (outer) {
      synchronized (inner) {
        Thread.yield();
      }
    }
  }

  @Test
  void aThreadThatIsLeftBehindIsFound() throws Exception {
    Explorer.exploreFaulty(1, () -> new Thread(LockSupport::park, "left behind").start());
  }

  /** A sleep that the scheduler did not see would take an hour, and fail the execution. */
  @Test
  void aSleepOfATimeUnitIsVirtualAlsoByAMethodReference() throws Exception {
    Explorer.explore(
        () -> {
          TimeUnit.HOURS.sleep(1);
          InterruptibleWait wait = TimeUnit.HOURS::sleep;
          wait.await(1);
        });
  }

  /** An hour passes at once, and who waits less wakes first. */
  @Test
  void timeIsVirtual() throws Exception {
    Explorer.explore(
        () -> {
          long begin = System.nanoTime();
          StringBuilder order = new StringBuilder();
          Object monitor = new Object();
          race(
              () -> {
                Thread.sleep(3_600_000);
                order.append('c');
              },
              () -> {
                synchronized (monitor) {
                  monitor.wait(60_000);
                }
                order.append('b');
              },
              () -> {
                assertFalse(new Semaphore(0).tryAcquire(1, TimeUnit.SECONDS));
                order.append('a');
              });
          assertEquals("abc", order.toString());
          assertTrue(System.nanoTime() - begin >= TimeUnit.HOURS.toNanos(1));
        });
  }

  /** No primitive of the JDK that the clients use blocks a thread without the scheduler. */
  @Test
  void primitivesOfTheJdkWaitForTheirTurn() throws Exception {
    Explorer.explore(
        () -> {
          CountDownLatch latch = new CountDownLatch(1);
          BlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
          CompletableFuture<String> future = new CompletableFuture<>();
          ExecutorService pool = Executors.newCachedThreadPool();
          race(
              latch::await,
              () -> assertEquals("first", queue.take()),
              () -> assertEquals("answer", future.get()),
              () -> pool.submit(latch::countDown).get(),
              () -> {
                queue.put("first");
                future.complete("answer");
              });
          pool.shutdown();
          assertTrue(pool.awaitTermination(1, TimeUnit.MINUTES));
        });
  }

  @Test
  void anInterruptEndsAWait() throws Exception {
    Explorer.explore(
        () -> {
          Thread waiter =
              new Thread(
                  () -> {
                    try {
                      new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                      return;
                    }
                    throw new AssertionError("the wait ended without an interrupt");
                  });
          waiter.start();
          waiter.interrupt();
          waiter.join();
        });
  }
}
