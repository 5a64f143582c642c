package io.mortise.connection.concurrent;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A task that changes while its slot is read is not missed later. */
@Tag("interleavings")
class TimingWheelInterleavingsTest {
  private static final int SCHEDULES = 150;

  /** A reading has more places to switch at. */
  private static final int SCHEDULES_OF_A_READING = 600;

  private static final long SLOT = 1L << 27;
  private static final long LONGEST = 400 * SLOT;
  private static final long EARLIER = 20;

  private static class Task implements ScheduledTask {
    volatile long due;

    Task(long due) {
      this.due = due;
    }

    @Override
    public long dueNanos() {
      return due;
    }

    @Override
    public void onDue(long nowNanos) {
      due = nowNanos + LONGEST;
    }
  }

  /** Cannot be moved the first time that it has become due earlier. */
  private static final class Unmovable extends Task {
    private boolean failed;

    Unmovable(long due) {
      super(due);
    }

    @Override
    public long dueNanos() {
      if (due == EARLIER && !failed) {
        failed = true;
        throw new OutOfMemoryError("on purpose");
      }
      return due;
    }
  }

  private static void assertFound(TimingWheel wheel, Task task) {
    assertTrue(wheel.nextNanos(LONGEST) - task.due <= 0, "no pass comes in time");
    assertTrue(wheel.isAnyDue(task.due), "the pass does not find it");
  }

  @Test
  void aTaskThatBecomesDueEarlierWhileItsSlotIsRead() {
    check(
        SCHEDULES_OF_A_READING,
        () -> {
          TimingWheel wheel = new TimingWheel(LONGEST, 0, 4);
          Task task = new Task(9);
          wheel.add(task);
          task.due = 40; // in the same slot: the pass finds it later than noted
          race(
              () -> {
                task.due = 20;
                wheel.move(task);
              },
              () -> wheel.isAnyDue(10));
          assertFound(wheel, task);
        });
  }

  @Test
  void aTaskThatComesIntoTheSlotThatIsRead() {
    check(
        SCHEDULES_OF_A_READING,
        () -> {
          TimingWheel wheel = new TimingWheel(LONGEST, 0, 4);
          wheel.add(new Task(9));
          Task task = new Task(2 * SLOT);
          wheel.add(task);
          race(
              () -> {
                task.due = 20;
                wheel.move(task);
              },
              () -> {
                if (wheel.isAnyDue(10)) {
                  wheel.forEachRunnable(10, due -> due.onDue(10));
                }
              });
          assertFound(wheel, task);
        });
  }

  /** The pass may be the one before, which reads nothing. */
  @Test
  void aTaskThatAnErrorKeepsFromBeingMovedWhileAPassBegins() {
    check(
        SCHEDULES,
        () -> {
          TimingWheel wheel = new TimingWheel(LONGEST, 0, 4);
          Task task = new Unmovable(2 * SLOT);
          wheel.add(task);
          assertFalse(wheel.isAnyDue(10), "its slot was read");
          boolean[] found = {false};
          race(
              () -> {
                task.due = EARLIER;
                try {
                  wheel.move(task);
                } catch (OutOfMemoryError full) {
                  // The next pass reads all slots.
                }
              },
              () -> found[0] = wheel.isAnyDue(EARLIER));
          assertTrue(found[0] || wheel.isAnyDue(EARLIER), "no pass finds it");
        });
  }

  @Test
  void twoThreadsMoveATask() {
    checkBesideAMove(
        (wheel, task) -> {
          task.due = SLOT;
          wheel.move(task);
        },
        (wheel, task) -> {
          assertFound(wheel, task);
          wheel.remove(task);
          assertFalse(wheel.isAnyDue(3 * SLOT), "it is in no other slot");
        });
  }

  @Test
  void aTaskThatIsRemovedWhileItIsMoved() {
    checkBesideAMove(
        TimingWheel::remove,
        (wheel, task) -> {
          assertEquals(0, wheel.size());
          assertFalse(wheel.isAnyDue(3 * SLOT), "it is in no slot");
        });
  }

  /** One thread moves a task from the third slot to the second; another one uses it too. */
  private static void checkBesideAMove(
      BiConsumer<TimingWheel, Task> other, BiConsumer<TimingWheel, Task> then) {
    check(
        SCHEDULES,
        () -> {
          TimingWheel wheel = new TimingWheel(LONGEST, 0, 4);
          Task task = new Task(3 * SLOT);
          wheel.add(task);
          race(
              () -> {
                task.due = 2 * SLOT;
                wheel.move(task);
              },
              () -> other.accept(wheel, task));
          then.accept(wheel, task);
        });
  }
}
