package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The wheel alone, with times in milliseconds that the test gives. */
@Timeout(60)
class TimingWheelTest {
  private static final long MILLI = 1_000_000;
  private static final long LONGEST = 60_000 * MILLI;
  private static final long ROUND = 34_360 * MILLI;

  private final TimingWheel wheel = new TimingWheel(LONGEST, 0, TimingWheel.DEFAULT_SLOTS);
  private final List<Task> ran = new ArrayList<>();
  private int reads;

  private class Task implements ScheduledTask {
    volatile long due;
    volatile long mayRunAt;

    Task(long due, long mayRunAt) {
      this.due = due;
      this.mayRunAt = mayRunAt;
    }

    @Override
    public long dueNanos() {
      reads++;
      return due;
    }

    @Override
    public long mayRunAtNanos() {
      return mayRunAt;
    }

    @Override
    public void onDue(long nowNanos) {
      ran.add(this);
      due = nowNanos + 10 * ROUND;
      mayRunAt = due;
    }
  }

  private Task add(long dueMillis, long mayRunAtMillis) {
    Task task = new Task(dueMillis * MILLI, mayRunAtMillis * MILLI);
    wheel.add(task);
    return task;
  }

  private Task add(long dueMillis) {
    return add(dueMillis, dueMillis);
  }

  /** Makes one pass, as the scheduler does. */
  private void pass(long millis) {
    long now = millis * MILLI;
    ran.clear();
    if (wheel.isAnyDue(now)) {
      wheel.forEachRunnable(now, task -> task.onDue(now));
    }
  }

  private long nextMillis() {
    return wheel.nextNanos(Long.MAX_VALUE) / MILLI;
  }

  @Test
  void theCostOfAPassDependsOnTheTasksThatAreDue() {
    for (int i = 0; i < 20_000; i++) {
      add(1_000 + i % 20_000);
    }
    Task due = add(10);
    reads = 0;

    pass(10);

    assertEquals(List.of(due), ran);
    assertTrue(reads < 20, () -> reads + " tasks were looked at");
  }

  @Test
  void aTaskOfALaterRoundRunsWhenItIsDue() {
    Task near = add(5);
    Task far = new Task(5 * MILLI + ROUND, 5 * MILLI + ROUND);
    wheel.add(far);

    pass(5);
    assertEquals(List.of(near), ran);

    ran.clear();
    assertTrue(wheel.isAnyDue(5 * MILLI + ROUND));
    wheel.forEachRunnable(5 * MILLI + ROUND, task -> task.onDue(0));
    assertEquals(List.of(far), ran);
  }

  @Test
  void tasksOfAllSlotsThatMayRunGoAlong() {
    Task due = add(10);
    Task withIt = add(2_000, 8);
    Task farAway = add(20_000, 10);
    Task notYet = add(2_000, 11);

    pass(9);
    assertEquals(List.of(), ran);

    pass(10);
    assertEquals(Set.of(due, withIt, farAway), Set.copyOf(ran));
    assertFalse(ran.contains(notYet));
  }

  @Test
  void aTaskThatHasBecomeDueEarlierIsMoved() {
    Task task = add(20_000);

    task.due = 7 * MILLI;
    assertEquals(20_000, nextMillis(), "nobody was told");
    wheel.move(task);

    assertEquals(7, nextMillis());
    pass(7);
    assertEquals(List.of(task), ran);
  }

  @Test
  void aTaskThatHasBecomeDueLaterIsMovedWhenItsSlotIsRead() {
    Task task = add(10);
    task.due = 9_000 * MILLI;
    task.mayRunAt = task.due;

    pass(10);

    assertEquals(List.of(), ran);
    assertEquals(9_000, nextMillis());
  }

  @Test
  void moveAddsNothing() {
    wheel.move(new Task(1, 1));

    assertEquals(0, wheel.size());
    assertFalse(wheel.isAnyDue(5));
  }

  @Test
  void aRemovedTaskIsNotWaitedForOnceItsSlotWasRead() {
    Task removed = add(10);
    add(500);

    wheel.remove(removed);

    pass(10);
    assertEquals(500, nextMillis());
    assertEquals(1, wheel.size());
  }

  @Test
  void aSlotWhoseReadingFailsIsReadAgain() {
    boolean[] fails = {false};
    Task broken =
        new Task(10 * MILLI, 10 * MILLI) {
          @Override
          public long dueNanos() {
            if (fails[0]) {
              throw new OutOfMemoryError("on purpose");
            }
            return super.dueNanos();
          }
        };
    wheel.add(broken);
    Task sound = add(11);
    fails[0] = true;
    assertThrows(OutOfMemoryError.class, () -> wheel.isAnyDue(20 * MILLI));
    fails[0] = false;

    pass(20);

    assertEquals(Set.of(broken, sound), Set.copyOf(ran));
  }

  @Test
  void aTaskThatAnErrorKeptFromBeingMovedIsFoundByTheNextPass() {
    boolean[] fails = {false};
    Task task =
        new Task(20_000 * MILLI, 20_000 * MILLI) {
          @Override
          public long mayRunAtNanos() {
            if (fails[0]) {
              throw new OutOfMemoryError("on purpose");
            }
            return super.mayRunAtNanos();
          }
        };
    wheel.add(task);
    task.due = 7 * MILLI;
    fails[0] = true;
    assertThrows(OutOfMemoryError.class, () -> wheel.move(task));
    fails[0] = false;

    pass(7);

    assertEquals(List.of(task), ran);
  }

  /** A set that has removed a task may need memory to count those that are left. */
  @Test
  void aTaskThatHasLeftItsSlotBeforeTheErrorOfItsMoveStillRuns() {
    TimingWheel fragile =
        new TimingWheel(LONGEST, 0, TimingWheel.DEFAULT_SLOTS, ErrorAfterRemoval::new);
    Task task = new Task(20_000 * MILLI, 20_000 * MILLI);
    fragile.add(task);
    task.due = 7 * MILLI;
    failsAfterRemoval = true;
    assertThrows(OutOfMemoryError.class, () -> fragile.move(task));
    failsAfterRemoval = false;

    for (int passes = 0; passes < 2; passes++) {
      assertTrue(fragile.isAnyDue(7 * MILLI));
      fragile.forEachRunnable(7 * MILLI, each -> ran.add((Task) each));
    }

    assertEquals(List.of(task, task), ran, "it stays in the wheel");
    fragile.remove(task);
    assertFalse(fragile.isAnyDue(7 * MILLI));
  }

  @Test
  void aTaskWhoseRemovalEndsWithAnErrorIsRemoved() {
    TimingWheel fragile =
        new TimingWheel(LONGEST, 0, TimingWheel.DEFAULT_SLOTS, ErrorAfterRemoval::new);
    Task task = new Task(7 * MILLI, 7 * MILLI);
    fragile.add(task);
    failsAfterRemoval = true;
    assertThrows(OutOfMemoryError.class, () -> fragile.remove(task));
    failsAfterRemoval = false;

    assertEquals(0, fragile.size());
    assertFalse(fragile.isAnyDue(7 * MILLI));
  }

  private boolean failsAfterRemoval;

  private final class ErrorAfterRemoval extends HashSet<ScheduledTask> {
    private static final long serialVersionUID = 1;

    @Override
    public boolean remove(Object task) {
      boolean removed = super.remove(task);
      if (failsAfterRemoval) {
        throw new OutOfMemoryError("on purpose");
      }
      return removed;
    }
  }

  @Test
  void aTaskThatAnErrorKeptFromBeingAddedDoesNotRun() {
    Task task =
        new Task(7 * MILLI, 0) {
          @Override
          public long mayRunAtNanos() {
            throw new OutOfMemoryError("on purpose");
          }
        };
    assertThrows(OutOfMemoryError.class, () -> wheel.add(task));
    Task due = add(-200);
    Task early = add(100, 5); // its slot is that of the failed one, and is read only to run tasks

    pass(50);

    assertEquals(Set.of(due, early), Set.copyOf(ran));
    assertEquals(2, wheel.size());
  }

  @Test
  void aTimeThatIsFarAwayIsLookedAtAgain() {
    Task task = add(1_000_000);
    pass(1);
    task.due = 70_000 * MILLI; // nobody is told

    pass(60_001);

    assertEquals(70_000, nextMillis());
  }

  @Test
  void anEmptySlotWakesNobody() {
    wheel.remove(add(10));

    assertEquals(Long.MAX_VALUE / MILLI, nextMillis());
  }

  /** Compared with a list of all tasks, over many rounds of the wheel. */
  @Test
  void noTaskIsLate() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      TimingWheel tried = new TimingWheel(LONGEST, 0, TimingWheel.DEFAULT_SLOTS);
      List<Task> tasks = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        Task task = new Task(0, 0);
        setTimes(task, 0, random);
        tasks.add(task);
        tried.add(task);
      }
      long now = 0;
      for (int step = 0; step < 300; step++) {
        now = tried.nextNanos(now + LONGEST);
        for (Task task : tasks) {
          assertTrue(task.due - now >= 0, "seed " + seed + ": the next pass comes too late");
        }
        if (tried.isAnyDue(now)) {
          long pass = now;
          tried.forEachRunnable(now, task -> setTimes((Task) task, pass, random));
        }
        Task any = tasks.get(random.nextInt(tasks.size()));
        setTimes(any, now, random);
        tried.move(any);
      }
    }
  }

  private static void setTimes(Task task, long now, Random random) {
    long after = 1 + (long) (Math.pow(random.nextDouble(), 4) * 3 * ROUND);
    task.due = now + after;
    task.mayRunAt = now + 1 + (long) (after * random.nextDouble());
  }

  /** Other threads add, move and remove while passes are made. */
  @Test
  void noTaskOfAnotherThreadIsLost() throws Exception {
    Set<Task> done = ConcurrentHashMap.newKeySet();
    CountDownLatch ended = new CountDownLatch(4);
    List<Task> expected = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      List<Task> own = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        own.add(new Task(Long.MAX_VALUE / 4, Long.MAX_VALUE / 4));
      }
      expected.addAll(own);
      Thread mover =
          new Thread(
              () -> {
                for (Task task : own) {
                  wheel.add(task);
                  wheel.remove(task);
                  wheel.add(task);
                  task.due = 0;
                  wheel.move(task);
                }
                ended.countDown();
              });
      mover.setDaemon(true);
      mover.start();
    }
    Duration limit = BackgroundCall.LIVENESS;
    long endNanos = System.nanoTime() + limit.toNanos();
    while (done.size() < expected.size() && System.nanoTime() - endNanos < 0) {
      if (wheel.isAnyDue(0)) {
        wheel.forEachRunnable(
            0,
            task -> {
              done.add((Task) task);
              ((Task) task).due = Long.MAX_VALUE / 4;
            });
      }
    }

    assertEquals(0, ended.getCount());
    assertEquals(expected.size(), done.size());
  }
}
