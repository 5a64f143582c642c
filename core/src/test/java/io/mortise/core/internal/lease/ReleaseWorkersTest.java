package io.mortise.core.internal.lease;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReleaseWorkersTest {
  private static final int MAX_WORKERS = 8;

  private volatile boolean noThread;
  private final WorkerPool pool =
      new WorkerPool(
          "test",
          (task, name) -> {
            if (noThread) {
              throw new StackOverflowError("on purpose");
            }
            return WorkerPool.thread(task, name);
          });
  private final Scheduler scheduler = new Scheduler(() -> 0, () -> {}, pool.threads("scheduler"));
  private final ReleaseWorkers workers =
      new ReleaseWorkers(
          new BackgroundTasks(pool, scheduler, new ClosingState(), Ticker.systemTicker()));
  private final CountDownLatch open = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final List<Integer> begun = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    open.countDown();
    pool.close();
  }

  /** A release that waits until {@code open}, and throws an error then if it is to. */
  private final class Release implements Runnable {
    final int number;
    final boolean fails;
    final ReleaseWorkers.Turn turn = workers.new Turn(this);

    Release(int number, boolean fails) {
      this.number = number;
      this.fails = fails;
    }

    @Override
    public void run() {
      assertTrue(turn.begin());
      try {
        running.incrementAndGet();
        begun.add(number);
        Uninterruptibles.awaitUninterruptibly(open);
        if (fails) {
          throw new OutOfMemoryError("on purpose");
        }
      } finally {
        running.decrementAndGet();
        turn.end();
      }
    }
  }

  private List<Release> request(int count, boolean fail) {
    List<Release> releases = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Release release = new Release(i, fail);
      releases.add(release);
      release.turn.request();
    }
    return releases;
  }

  private void awaitBegun(int count) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> begun.size() == count);
  }

  @Test
  void aBoundedNumberOfReleasesRunsAtATimeAndTheOthersFollowInTheirOrder() {
    List<Release> releases = request(50, false);
    awaitBegun(MAX_WORKERS);
    releases.forEach(release -> release.turn.request()); // they wait, or run, already

    assertEquals(MAX_WORKERS, running.get());
    assertTrue(releases.get(49).turn.isWaiting());
    open.countDown();
    awaitBegun(50);
    assertEquals(
        IntStream.range(0, 50).boxed().toList(), begun.stream().sorted().toList(), "each once");
    assertTrue(begun.indexOf(49) > 49 - 2 * MAX_WORKERS, "about in their order: " + begun);
  }

  @Test
  void anErrorOfAReleaseCostsNoPermit() {
    List<Release> failing = request(3 * MAX_WORKERS, true);
    open.countDown();
    awaitBegun(failing, 3 * MAX_WORKERS);
    begun.clear();

    awaitBegun(request(5, false), 5);
  }

  /** As their scheduler does, asks again for those that wait. */
  private void awaitBegun(List<Release> requested, int count) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () -> {
              requested.stream().filter(r -> r.turn.isWaiting()).forEach(r -> r.turn.request());
              return begun.size() == count;
            });
  }

  @Test
  void aWorkerThatCannotBeStartedCostsNoPermit() {
    noThread = true;
    List<Release> releases = new ArrayList<>();
    for (int i = 0; i < 2 * MAX_WORKERS; i++) {
      Release release = new Release(i, false);
      releases.add(release);
      assertThrows(StackOverflowError.class, release.turn::request);
      assertTrue(release.turn.isWaiting());
    }

    noThread = false;
    releases.get(0).turn.request();
    open.countDown();
    awaitBegun(2 * MAX_WORKERS);
    await().atMost(BackgroundCall.LIVENESS).until(() -> running.get() == 0);
    assertFalse(releases.get(0).turn.isWaiting());
  }
}
