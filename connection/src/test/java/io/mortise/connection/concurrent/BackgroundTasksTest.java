package io.mortise.connection.concurrent;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.logging.CapturedLog;
import io.mortise.connection.testing.BackgroundCall;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task for later, once, on a worker. */
@Timeout(60)
class BackgroundTasksTest {
  private static final long HOUR_NANOS = 3_600_000_000_000L;
  private static final long SOON_NANOS = 20_000_000L;

  /** No thread is as late as this, on a busy machine either. */
  private static final long LATER_NANOS = 2_000_000_000L;

  private final ClosingState closing = new ClosingState();
  private volatile boolean noThread;
  private final AtomicInteger refused = new AtomicInteger();

  /** Lets the thread go on that has started a worker. */
  private final CountDownLatch startReturns = new CountDownLatch(1);

  private volatile boolean startBlocks;
  private final WorkerPool workers =
      new WorkerPool(
          "12345678",
          (task, name) -> {
            if (noThread) {
              refused.incrementAndGet();
              throw new OutOfMemoryError("on purpose");
            }
            return new Worker(task, name);
          });
  private final Scheduler scheduler =
      new Scheduler(System::nanoTime, () -> Long.MAX_VALUE, workers.threads("scheduler"));
  private final BackgroundTasks tasks =
      new BackgroundTasks(workers, scheduler, closing, Ticker.systemTicker());
  private final List<String> done = new CopyOnWriteArrayList<>();

  /** A thread that may begin long before the thread that has started it goes on. */
  private final class Worker extends Thread {
    Worker(Runnable task, String name) {
      super(task, name);
    }

    @Override
    public synchronized void start() {
      super.start();
      if (startBlocks && getName().contains("worker")) {
        Uninterruptibles.awaitUninterruptibly(startReturns);
      }
    }
  }

  @BeforeEach
  void start() {
    scheduler.start();
  }

  @AfterEach
  void close() {
    startReturns.countDown();
    scheduler.close();
    workers.close();
  }

  private void awaitDone(String... tasks) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of(tasks), List.copyOf(done)));
  }

  /** A worker may be done with a task before the scheduler has removed it. */
  private void awaitScheduled(int tasks) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> scheduler.size() == tasks);
  }

  @Test
  void itIsDoneOnceOnAWorkerAndNotBeforeItsTime() {
    long start = System.nanoTime();
    var unused1 =
        tasks.schedule(
            () -> done.add(Thread.currentThread().getName().replaceAll("-\\w{8}-\\d+$", "")),
            SOON_NANOS);

    awaitDone("mortise-worker");

    assertTrue(System.nanoTime() - start >= SOON_NANOS);
    awaitScheduled(0); // it will not be done again
  }

  @Test
  void eachHasItsOwnTime() {
    var unused2 = tasks.schedule(() -> done.add("second"), LATER_NANOS);
    var unused3 = tasks.schedule(() -> done.add("never"), HOUR_NANOS);
    var unused4 = tasks.schedule(() -> done.add("first"), SOON_NANOS);

    awaitDone("first", "second");

    awaitScheduled(1);
  }

  @Test
  void whatIsTakenBackIsNotDone() {
    Runnable takeBack = tasks.schedule(() -> done.add("taken back"), LATER_NANOS);
    takeBack.run();
    takeBack.run();
    var unused5 = tasks.schedule(() -> done.add("after that"), LATER_NANOS + SOON_NANOS);

    awaitDone("after that");
  }

  @Test
  void takingBackWhatIsDoneChangesNothing() {
    Runnable takeBack = tasks.schedule(() -> done.add("done"), 0);
    awaitDone("done");

    takeBack.run();

    assertEquals(0, scheduler.size());
  }

  @Test
  void aTaskThatThrowsDoesNotHarmTheNext() {
    var unused6 =
        tasks.schedule(
            () -> {
              throw new IllegalStateException("on purpose");
            },
            0);
    var unused7 = tasks.schedule(() -> done.add("next"), SOON_NANOS);

    awaitDone("next");
  }

  @Test
  void aClosedClientDoesNothingLater() {
    assertTrue(closing.begin());

    assertThrows(
        RejectedExecutionException.class,
        () -> tasks.schedule(() -> done.add("never"), SOON_NANOS));

    assertEquals(0, scheduler.size());
  }

  @Test
  void aTaskThatMustNotBeDroppedIsRefusedOnceTheWorkersHaveEnded() {
    tasks.execute(() -> done.add("in time"));
    awaitDone("in time");
    workers.close();

    tasks.run(() -> done.add("dropped"));
    assertThrows(RejectedExecutionException.class, () -> tasks.execute(() -> done.add("refused")));

    assertEquals(List.of("in time"), done);
  }

  @Test
  void aTaskThatMayBeDroppedIsThatWithoutAThreadAtTheCloseToo() {
    noThread = true;
    assertTrue(closing.begin());

    tasks.run(() -> done.add("dropped"));

    assertEquals(0, scheduler.size());
  }

  @Test
  void aTaskThatMustNotBeDroppedAndIsDelayedAtTheCloseIsRunByTheClosingThread() {
    noThread = true;
    tasks.execute(() -> done.add("kept"));
    tasks.run(() -> done.add("dropped"));
    var unused8 = tasks.schedule(() -> done.add("later"), SOON_NANOS);
    assertTrue(closing.begin());
    scheduler.close();
    workers.close();
    assertEquals(List.of(), done);

    tasks.runDelayed();

    assertEquals(List.of("kept"), done);
  }

  @Test
  void aTaskThatMustNotBeDroppedRunsOnceAlsoIfTheClosingThreadFindsItOnItsWayToAWorker() {
    noThread = true;
    tasks.execute(() -> done.add("kept"));
    startBlocks = true;
    noThread = false;
    awaitDone("kept"); // and the scheduler still has it
    assertEquals(1, scheduler.size());

    tasks.runDelayed();

    assertEquals(List.of("kept"), done);
  }

  @Test
  void whatIsTakenBackWhileNoThreadCanBeStartedIsNotDone() {
    noThread = true;
    Runnable takeBack = tasks.schedule(() -> done.add("taken back"), 0);
    await().atMost(BackgroundCall.LIVENESS).until(() -> refused.get() > 0);

    takeBack.run();
    noThread = false;
    var unused9 = tasks.schedule(() -> done.add("after that"), 20 * SOON_NANOS);

    awaitDone("after that");
  }

  @Test
  void theWaitForAThreadIsInTheLogOnce() {
    String about = "background task of the client is delayed";
    int before = CapturedLog.errorsAbout(about).size();
    noThread = true;
    tasks.run(() -> done.add("first"));
    tasks.run(() -> done.add("second"));
    await().atMost(BackgroundCall.LIVENESS).until(() -> refused.get() >= 6);

    assertEquals(before + 1, CapturedLog.errorsAbout(about).size());
  }

  @Test
  void aTaskThatIsDelayedDuringTheCloseIsRefused() {
    noThread = true;
    assertTrue(closing.begin());

    assertThrows(RejectedExecutionException.class, () -> tasks.execute(() -> done.add("refused")));

    assertEquals(0, scheduler.size());
  }
}
