package io.mortise.connection.concurrent;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The thread: when it wakes. The clock stands still at zero, and an idle thread sleeps for a
 * minute; so within the time of a test it wakes only because somebody woke it.
 */
@Timeout(60)
class SchedulerThreadTest {
  private static final long AN_HOUR = 3_600_000_000_000L;

  private final AtomicInteger scans = new AtomicInteger();
  private volatile Runnable afterScan = () -> {};
  private volatile Thread thread;
  private final Scheduler scheduler =
      new Scheduler(
          () -> 0,
          () -> {
            afterScan.run();
            scans.incrementAndGet();
            return Long.MAX_VALUE;
          },
          task -> {
            thread = new Thread(task, "scheduler under test");
            thread.setDaemon(true);
            return thread;
          });

  /** Is done once. */
  private class Entry implements ScheduledTask {
    final CountDownLatch done = new CountDownLatch(1);
    volatile long due;

    Entry(long due) {
      this.due = due;
    }

    @Override
    public long dueNanos() {
      return due;
    }

    @Override
    public void onDue(long nowNanos) {
      scheduler.remove(this);
      done.countDown();
    }

    void awaitDone() throws InterruptedException {
      assertTrue(
          done.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS), "it was missed");
    }
  }

  @Test
  void anErrorAnywhereInAPassDoesNotEndTheThread() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    Entry faulty =
        new Entry(0) {
          @Override
          public long dueNanos() {
            if (failures.getAndDecrement() > 0) {
              throw new OutOfMemoryError("on purpose");
            }
            return super.dueNanos();
          }
        };
    scheduler.add(faulty);
    failures.set(3);
    scheduler.start();

    faulty.awaitDone();
    Entry next = new Entry(0);
    scheduler.add(next);
    next.awaitDone();
  }

  @AfterEach
  void close() throws InterruptedException {
    scheduler.close();
    if (thread != null) {
      thread.join(BackgroundCall.LIVENESS.toMillis());
      assertFalse(thread.isAlive(), "closing ends the thread");
    }
  }

  private void startAndPark() {
    scheduler.start();
    awaitAsleep();
  }

  private void awaitAsleep() {
    await().atMost(BackgroundCall.LIVENESS).until(() -> scans.get() > 0);
    BackgroundCall.awaitParked(thread);
  }

  @Test
  void whatWasAddedBeforeTheStartIsDone() throws Exception {
    Entry early = new Entry(0);
    scheduler.add(early);

    scheduler.start();

    early.awaitDone();
  }

  @Test
  void anEntryThatIsDueEarlierThanTheSleepLastsWakesTheThread() throws Exception {
    startAndPark();
    Entry entry = new Entry(0);

    scheduler.add(entry);

    entry.awaitDone();
  }

  /** As by somebody who interrupts all threads of a group, or all that look left over. */
  @Test
  void anInterruptFromOutsideDoesNotKeepTheThreadAwake() throws Exception {
    startAndPark();

    thread.interrupt();

    awaitAsleep();
  }

  @Test
  void anEntryThatIsAddedDuringAScanIsNotMissed() throws Exception {
    // At the end of the first scan the set has been read, and the thread has not gone to sleep.
    CountDownLatch scanning = new CountDownLatch(1);
    CountDownLatch added = new CountDownLatch(1);
    afterScan =
        () -> {
          scanning.countDown();
          while (added.getCount() > 0) {
            Thread.onSpinWait();
          }
        };
    scheduler.start();
    uninterruptibly(scanning);
    Entry late = new Entry(0);

    scheduler.add(late);
    added.countDown();

    late.awaitDone();
  }

  @Test
  void anEntryThatIsAddedWhileTheScanWaitsForSomethingIsNotMissed() throws Exception {
    CountDownLatch added = parkInTheFirstScan();
    Entry late = new Entry(0);

    scheduler.add(late);
    BackgroundCall.awaitParked(thread); // it has woken for nothing, and waits again
    added.countDown();

    late.awaitDone();
  }

  @Test
  void closingWhileTheScanWaitsForSomethingEndsTheThreadToo() throws Exception {
    CountDownLatch closed = parkInTheFirstScan();

    scheduler.close();
    BackgroundCall.awaitParked(thread);
    closed.countDown();

    thread.join(BackgroundCall.LIVENESS.toMillis());
    assertFalse(thread.isAlive());
  }

  private CountDownLatch parkInTheFirstScan() {
    CountDownLatch waiting = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    afterScan =
        () -> {
          waiting.countDown();
          uninterruptibly(goOn);
        };
    scheduler.start();
    uninterruptibly(waiting);
    BackgroundCall.awaitParked(thread);
    return goOn;
  }

  @Test
  void aPokeWakesTheThreadForWhatHasBecomeDueEarlier() throws Exception {
    Entry entry = new Entry(AN_HOUR);
    scheduler.add(entry);
    startAndPark();

    entry.due = 0;
    scheduler.reschedule(entry);

    entry.awaitDone();
  }

  @Test
  void whatIsDueAfterTheThreadWakesAnywayDoesNotWakeIt() throws Exception {
    startAndPark();
    int before = scans.get();

    for (int i = 0; i < 1_000; i++) {
      scheduler.add(new Entry(AN_HOUR + i));
    }
    // Each of those wake-ups would have been a scan of its own, before this one.
    Entry last = new Entry(0);
    scheduler.add(last);
    last.awaitDone();
    awaitAsleep();

    assertTrue(scans.get() - before <= 2, "scans: " + (scans.get() - before));
  }

  /** Nothing else is due. */
  @Test
  void whatCouldNotBeSentIsSentSoon() {
    afterScan =
        () -> {
          afterScan = () -> {};
          throw new OutOfMemoryError("on purpose");
        };
    scheduler.start();

    await().atMost(BackgroundCall.LIVENESS).until(() -> scans.get() > 0);
  }

  @Test
  void anErrorDoesNotEndTheThread() throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    afterScan =
        () -> {
          afterScan = () -> {};
          failed.countDown();
          throw new AssertionError("on purpose");
        };
    scheduler.start();
    uninterruptibly(failed);
    Entry entry = new Entry(0);

    scheduler.add(entry);

    entry.awaitDone();
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      assertTrue(latch.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
