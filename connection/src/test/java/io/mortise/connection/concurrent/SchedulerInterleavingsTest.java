package io.mortise.connection.concurrent;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The thread does not sleep past a task that comes during a scan. */
@Tag("interleavings")
class SchedulerInterleavingsTest {
  private static final int SCHEDULES = 300;
  private static final long NOW = 1_000_000;
  private static final long SOON = 2_000_000;
  private static final long LATE = 90_000_000_000L;

  private static final class Task implements ScheduledTask {
    volatile long due = LATE;

    @Override
    public long dueNanos() {
      return due;
    }

    @Override
    public void onDue(long nowNanos) {
      throw new AssertionError("it is not due");
    }
  }

  /** Races the change with a scan, and checks that another pass comes until the task is due. */
  private static void checkNotMissed(boolean added, Change change) {
    check(
        SCHEDULES,
        () -> {
          Scheduler scheduler = new Scheduler(() -> NOW, () -> Long.MAX_VALUE, Thread::new, 4);
          Task task = new Task();
          if (added) {
            scheduler.add(task);
          }
          AtomicLong next = new AtomicLong();
          race(
              () -> {
                task.due = SOON;
                change.apply(scheduler, task);
              },
              () -> next.set(scheduler.scan(NOW)));
          assertTrue(
              scheduler.isWakeRequested() || next.get() <= SOON, "the thread sleeps past it");
        });
  }

  private interface Change {
    void apply(Scheduler scheduler, ScheduledTask task);
  }

  @Test
  void aTaskThatIsAddedDuringAScan() {
    checkNotMissed(false, Scheduler::add);
  }

  @Test
  void aTaskThatBecomesDueEarlierDuringAScan() {
    checkNotMissed(true, Scheduler::reschedule);
  }
}
