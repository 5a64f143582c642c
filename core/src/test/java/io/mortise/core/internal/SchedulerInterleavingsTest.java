package io.mortise.core.internal;

import static io.mortise.core.internal.Interleavings.check;
import static io.mortise.core.internal.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * No entry is missed by a scan and by the wake-up after it. The clock stands still, so a scheduler
 * that sleeps though something is due sleeps for ever, and the scenario does not end.
 */
@Tag("interleavings")
class SchedulerInterleavingsTest {
  private static final long NOW = 1_000;
  private static final long LATER = NOW + 1_000_000_000L;
  private static final int SCHEDULES = 300;

  private interface Scenario {
    void run(Scheduler scheduler) throws InterruptedException;
  }

  /** The scheduler's thread. */
  private static final class Loop extends Thread {
    private final Runnable loop;

    Loop(Runnable loop) {
      this.loop = loop;
    }

    @Override
    public void run() {
      loop.run();
    }
  }

  /** Runs once, when it is due. */
  private static final class Once implements Scheduler.Timed {
    private final Scheduler scheduler;
    private final Signal done = new Signal();
    private volatile long dueNanos;

    Once(Scheduler scheduler, long dueNanos) {
      this.scheduler = scheduler;
      this.dueNanos = dueNanos;
    }

    @Override
    public long dueNanos() {
      return dueNanos;
    }

    @Override
    public void onTime(long nowNanos) {
      scheduler.remove(this);
      done.fire();
    }

    void bringForward() {
      dueNanos = NOW;
      scheduler.poke(NOW);
    }

    void awaitRun() throws InterruptedException {
      done.await(0, Long.MAX_VALUE);
    }
  }

  private static void withScheduler(Runnable afterScan, Scenario scenario) throws Exception {
    Loop[] thread = new Loop[1];
    Scheduler scheduler = new Scheduler(() -> NOW, afterScan, loop -> thread[0] = new Loop(loop));
    scheduler.start();
    scenario.run(scheduler);
    assertEquals(0, scheduler.size());
    scheduler.close();
    thread[0].join();
  }

  @Test
  void anEntryIsNotMissedWheneverItComes() {
    check(
        SCHEDULES,
        () ->
            withScheduler(
                () -> {},
                scheduler -> {
                  Once entry = new Once(scheduler, NOW);
                  scheduler.add(entry);
                  entry.awaitRun();
                  assertEquals(1, entry.done.generation());
                }));
  }

  @Test
  void twoEntriesAtTheSameTimeAreNotMissed() {
    check(
        SCHEDULES,
        () ->
            withScheduler(
                () -> {},
                scheduler -> {
                  Once one = new Once(scheduler, NOW);
                  Once two = new Once(scheduler, NOW);
                  race(() -> scheduler.add(one), () -> scheduler.add(two));
                  one.awaitRun();
                  two.awaitRun();
                }));
  }

  @Test
  void anEntryThatBecomesDueEarlierIsNotMissed() {
    check(
        SCHEDULES,
        () ->
            withScheduler(
                () -> {},
                scheduler -> {
                  Once entry = new Once(scheduler, LATER);
                  scheduler.add(entry);
                  entry.bringForward();
                  entry.awaitRun();
                }));
  }

  @Test
  void aLockTakenInAScanDoesNotSwallowTheWakeUp() {
    check(
        SCHEDULES,
        () -> {
          ReentrantLock batch = new ReentrantLock();
          withScheduler(
              () -> {
                batch.lock();
                batch.unlock();
              },
              scheduler -> {
                Once entry = new Once(scheduler, NOW);
                batch.lock();
                try {
                  scheduler.add(entry);
                } finally {
                  batch.unlock();
                }
                entry.awaitRun();
              });
        });
  }
}
