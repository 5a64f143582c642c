package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.logging.CapturedLog;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Single passes, with a clock that the test moves, and without a thread. */
class SchedulerScanTest {
  private static final long IDLE = 60_000_000_000L;

  private final List<String> done = new ArrayList<>();
  private long pauseAfterScan = Long.MAX_VALUE;
  private final Scheduler scheduler =
      new Scheduler(
          () -> 0,
          () -> {
            done.add("after the scan");
            return pauseAfterScan;
          },
          Thread::new);

  /** Becomes due again so long after it was done. */
  private class Entry implements ScheduledTask {
    final String name;
    final long every;
    long due;
    long early;
    Runnable action = () -> {};

    Entry(String name, long due, long every) {
      this.name = name;
      this.due = due;
      this.every = every;
    }

    @Override
    public long dueNanos() {
      return due;
    }

    @Override
    public long mayRunAtNanos() {
      return due - early;
    }

    @Override
    public void onDue(long nowNanos) {
      done.add(name + " at " + nowNanos);
      due = nowNanos + every;
      action.run();
    }
  }

  private Entry add(String name, long due, long every) {
    Entry entry = new Entry(name, due, every);
    scheduler.add(entry);
    return entry;
  }

  @Test
  void whatIsDueIsDoneAndTheNextScanIsWhenTheNextIsDue() {
    add("a", 100, 1_000);
    add("b", 250, 1_000);

    assertEquals(100, scheduler.scan(99));
    assertEquals(List.of("after the scan"), done);

    done.clear();
    assertEquals(250, scheduler.scan(100));
    assertEquals(List.of("a at 100", "after the scan"), done);

    done.clear();
    assertEquals(1_100, scheduler.scan(260));
    assertEquals(List.of("b at 260", "after the scan"), done);
  }

  @Test
  void whatIsNearlyDueGoesAlongWithWhatIsDue() {
    add("due", 100, 1_000);
    add("nearly", 150, 1_000).early = 50;
    add("not yet", 151, 1_000).early = 50;

    assertEquals(151, scheduler.scan(100));

    assertEquals(Set.of("due at 100", "nearly at 100", "after the scan"), new HashSet<>(done));
  }

  @Test
  void theThreadIsNotWokenForWhatIsOnlyNearlyDue() {
    add("nearly", 150, 1_000).early = 100;

    assertEquals(150, scheduler.scan(10), "due counts, earliest does not");
  }

  /** As when replies wake it again and again: a task each time would be no batch. */
  @Test
  void aPassInWhichNothingIsDueRunsNothing() {
    add("nearly", 150, 1_000).early = 100;
    add("nearly too", 160, 1_000).early = 100;

    for (long now = 51; now < 150; now++) {
      assertEquals(150, scheduler.scan(now));
    }
    assertEquals(Set.of("after the scan"), new HashSet<>(done));

    scheduler.scan(150);

    assertTrue(done.contains("nearly at 150"));
    assertTrue(done.contains("nearly too at 150"), "it goes along");
  }

  /** As when a failover cannot be reported: that is tried five times a second. */
  @Test
  void aHousekeepingTaskThatFailsEachTimeIsInTheLogOnceUntilItSucceeds() {
    boolean[] fails = {true};
    scheduler.repeat(
        50,
        () -> {
          if (fails[0]) {
            throw new IllegalStateException("housekeeping, on purpose");
          }
        });
    for (long now = 50; now < 300; now += 50) {
      scheduler.scan(now);
    }
    assertEquals(1, CapturedLog.errorsAbout("housekeeping, on purpose").size());

    fails[0] = false;
    scheduler.scan(300);
    fails[0] = true;
    scheduler.scan(350);

    assertEquals(2, CapturedLog.errorsAbout("housekeeping, on purpose").size());
  }

  /** It comes often: each time would be no batch. */
  @Test
  void aHousekeepingTaskThatIsDueRunsNoOtherTaskEarly() {
    scheduler.repeat(90, () -> done.add("housekeeping"));
    Entry nearly = new Entry("nearly", 200, 1_000);
    nearly.early = 150;
    scheduler.add(nearly);

    assertEquals(180, scheduler.scan(90));
    assertEquals(List.of("after the scan", "housekeeping"), done);
    assertEquals(200, scheduler.scan(180));
    assertEquals(1, scheduler.size(), "the housekeeping task is no entry");

    scheduler.clear();
    done.clear();
    scheduler.scan(200);
    assertEquals(List.of("after the scan"), done);
  }

  @Test
  void aHousekeepingTaskThatThrowsStopsNothing() {
    scheduler.repeat(
        50,
        () -> {
          done.add("faulty");
          throw new IllegalStateException("on purpose");
        });
    scheduler.repeat(50, () -> done.add("sound"));
    add("task", 50, 1_000);

    assertEquals(100, scheduler.scan(50));

    assertEquals(List.of("task at 50", "after the scan", "faulty", "sound"), done);
  }

  @Test
  void whatAScanHasGatheredIsSentOnceAtItsEnd() {
    for (int i = 0; i < 5; i++) {
      add("entry", 100, 1_000);
    }

    scheduler.scan(100);

    assertEquals(6, done.size());
    assertEquals("after the scan", done.get(5));
    assertEquals(1, done.stream().filter("after the scan"::equals).count());
  }

  @Test
  void anEntryThatThrowsDoesNotStopTheOthers() {
    for (int i = 0; i < 8; i++) {
      boolean faulty = i % 2 == 0;
      add(faulty ? "faulty" : "sound", 100, 1_000).action =
          () -> {
            if (faulty) {
              throw new IllegalStateException("on purpose");
            }
          };
    }

    assertEquals(1_100, scheduler.scan(100));

    assertEquals(4, done.stream().filter("sound at 100"::equals).count());
    assertEquals(4, done.stream().filter("faulty at 100"::equals).count());
    assertEquals("after the scan", done.get(8));
  }

  @Test
  void anErrorStopsNobodyEither() {
    for (int i = 0; i < 4; i++) {
      boolean faulty = i % 2 == 0;
      add(faulty ? "faulty" : "sound", 100, 1_000).action =
          () -> {
            if (faulty) {
              throw new AssertionError("on purpose");
            }
          };
    }

    assertEquals(1_100, scheduler.scan(100));

    assertEquals(2, done.stream().filter("sound at 100"::equals).count());
  }

  /** Also with entries that may come early, and with any other entries in the same pass. */
  @Test
  void noEntryIsLookedAfterLaterThanItIsDue() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      List<Entry> entries = new ArrayList<>();
      Set<Entry> late = new HashSet<>();
      Scheduler any = new Scheduler(() -> 0, () -> Long.MAX_VALUE, Thread::new);
      long[] now = {0};
      for (int i = 0; i < 8; i++) {
        Entry entry = new Entry("e" + i, random.nextInt(200), 1 + random.nextInt(100));
        entry.early = random.nextInt(200) - 100L; // also one that names a time after it is due
        long[] due = {entry.due};
        entry.action =
            () -> {
              if (now[0] > due[0]) {
                late.add(entry);
              }
              due[0] = entry.due;
            };
        entries.add(entry);
        any.add(entry);
      }
      while (now[0] < 1_000) {
        now[0] = any.scan(now[0]);
        for (Entry entry : entries) {
          assertTrue(entry.due >= now[0], "seed " + seed + ": the next pass comes too late");
        }
      }
      assertEquals(Set.of(), late, "seed " + seed);
    }
  }

  /** Nobody removes what its owner does not have: a heartbeat would keep a dead waiter's place. */
  @Test
  void whatAnErrorKeepsFromBeingAddedIsNotThere() {
    int[] reads = {0};
    Entry entry =
        new Entry("a", 100, 1_000) {
          @Override
          public long dueNanos() {
            if (++reads[0] == 2) { // the task is in the wheel, and the thread is to be woken
              throw new StackOverflowError("on purpose");
            }
            return super.dueNanos();
          }
        };

    assertThrows(StackOverflowError.class, () -> scheduler.add(entry));

    assertEquals(0, scheduler.size());
    scheduler.scan(100);
    assertEquals(List.of("after the scan"), done);
  }

  @Test
  void whatCannotBeSentDoesNotStopTheScans() {
    Scheduler failing =
        new Scheduler(
            () -> 0,
            () -> {
              throw new AssertionError("on purpose");
            },
            Thread::new);
    failing.add(new Entry("a", 100, 1_000));
    failing.repeat(100, () -> done.add("housekeeping"));

    for (long now = 100; now <= 1_100; now += 1_000) {
      long scanned = now;
      assertThrows(AssertionError.class, () -> failing.scan(scanned)); // the thread pauses then
    }

    assertEquals(List.of("a at 100", "housekeeping", "a at 1100", "housekeeping"), done);
  }

  @Test
  void whatWasRemovedIsNotWaitedForAlsoWhenItRemovesItself() {
    Entry kept = add("kept", 500, 1_000);
    Entry removed = add("removed", 300, 1_000);
    Entry leaving = add("leaving", 100, 10);
    leaving.action = () -> scheduler.remove(leaving);
    scheduler.remove(removed);

    assertEquals(500, scheduler.scan(100));

    assertTrue(done.contains("leaving at 100"));
    assertEquals(List.of(kept), scheduler.entries(Entry.class));
    assertEquals(1, scheduler.size());
  }

  @Test
  void withNothingToDoTheNextScanIsAMinuteLater() {
    assertEquals(7 + IDLE, scheduler.scan(7));
    add("far", 7 + 2 * IDLE, 1);
    assertEquals(7 + IDLE, scheduler.scan(7));
  }

  /** As when there was too much to send. */
  @Test
  void theNextScanIsNotLaterThanTheOneBeforeHasAskedFor() {
    pauseAfterScan = 20;
    add("later", 100, 1_000);

    assertEquals(70, scheduler.scan(50));
    assertEquals(100, scheduler.scan(85));

    pauseAfterScan = Long.MAX_VALUE;
    assertEquals(1_100, scheduler.scan(100));
  }

  @Test
  void onceWokenItLooksAgainSoonSoThatWhatComesAndGoesDoesNotWakeItEachTime() {
    long restless = 25_000_000;
    assertEquals(IDLE, scheduler.scan(0));
    scheduler.remove(add("come and gone", 30_000_000, 1));

    assertEquals(1_000 + restless, scheduler.scan(1_000), "it was woken");
    scheduler.remove(add("come and gone", 30_000_000, 1));

    assertEquals(restless + 1_000 + IDLE, scheduler.scan(restless + 1_000), "it was not");
  }

  @Test
  void theClockMayWrapAround() {
    long now = Long.MAX_VALUE - 10;
    add("before the end", now, 20);
    add("beyond the end", now + 15, 1_000);

    assertEquals(now + 15, scheduler.scan(now));
    assertEquals(List.of("before the end at " + now, "after the scan"), done);

    done.clear();
    assertEquals(now + 20, scheduler.scan(now + 16));
    assertEquals(List.of("beyond the end at " + (now + 16), "after the scan"), done);
  }
}
