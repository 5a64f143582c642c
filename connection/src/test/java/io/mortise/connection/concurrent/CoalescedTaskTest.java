package io.mortise.connection.concurrent;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.connection.logging.CapturedLog;
import io.mortise.connection.testing.BackgroundCall;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many requests make few runs, and none is left without a run after it. */
@Timeout(60)
class CoalescedTaskTest {
  private final AtomicBoolean lacksMemory = new AtomicBoolean();
  private final AtomicBoolean fails = new AtomicBoolean();
  private final AtomicInteger threads = new AtomicInteger();
  private final AtomicInteger runs = new AtomicInteger();
  private final Semaphore continued = new Semaphore(0);
  private final WorkerPool workers = new WorkerPool("12345678", this::thread);
  private final CoalescedTask task = new CoalescedTask(workers, this::run);

  private Thread thread(Runnable target, String name) {
    if (lacksMemory.getAndSet(false)) {
      throw new OutOfMemoryError("unable to create native thread (on purpose)");
    }
    threads.incrementAndGet();
    return new Thread(target, name);
  }

  private void run() {
    runs.incrementAndGet();
    continued.acquireUninterruptibly();
    if (fails.getAndSet(false)) {
      throw new NoClassDefFoundError("coalesced, on purpose");
    }
  }

  @AfterEach
  void close() {
    continued.release(100);
    workers.close();
  }

  private void awaitRuns(int expected) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> runs.get() == expected);
  }

  private void awaitIdle() {
    await().atMost(BackgroundCall.LIVENESS).until(() -> !task.isRunning());
  }

  @Test
  void allRequestsDuringARunMakeOneMore() {
    task.request();
    awaitRuns(1);
    for (int i = 0; i < 50; i++) {
      task.request();
    }

    continued.release(100);

    awaitIdle();
    assertEquals(2, runs.get());
    assertEquals(1, threads.get());
  }

  @Test
  void anErrorDoesNotPreventLaterRuns() {
    fails.set(true);
    continued.release(2);
    task.request();
    awaitRuns(1);
    awaitIdle();

    task.request();

    awaitRuns(2);
    awaitIdle();
  }

  @Test
  void errorsThatFollowEachOtherAreInTheLogOnce() {
    int before = CapturedLog.errorsAbout("coalesced, on purpose").size();
    continued.release(3);
    for (int i = 1; i <= 3; i++) {
      fails.set(true);
      task.request();
      awaitRuns(i);
      awaitIdle();
    }

    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> CapturedLog.errorsAbout("coalesced, on purpose").size() == before + 1);
  }

  @Test
  void withoutAThreadTheNextRequestTriesAgain() {
    lacksMemory.set(true);
    task.request();
    assertFalse(task.isRunning());

    continued.release();
    task.request();

    awaitRuns(1);
    awaitIdle();
  }
}
