package io.mortise.connection.concurrent;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.testing.BackgroundCall;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedWorkersTest {
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
  private final Scheduler scheduler =
      new Scheduler(() -> 0, () -> Long.MAX_VALUE, pool.threads("scheduler"));
  private final BackgroundTasks tasks =
      new BackgroundTasks(pool, scheduler, new ClosingState(), Ticker.systemTicker());
  private final CountDownLatch open = new CountDownLatch(1);
  private final List<Integer> done = new CopyOnWriteArrayList<>();
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  @AfterEach
  void close() {
    open.countDown();
    pool.close();
  }

  private Runnable task(int number) {
    return () -> {
      threads.add(Thread.currentThread());
      Uninterruptibles.awaitUninterruptibly(open);
      done.add(number);
    };
  }

  private void awaitDone(int count) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> done.size() == count);
  }

  @Test
  void manyTasksShareTheWorkers() {
    SharedWorkers workers = new SharedWorkers(tasks::execute, 3, true);
    IntStream.range(0, 100).forEach(i -> workers.execute(task(i)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> threads.size() == 3);
    open.countDown();
    awaitDone(100);

    assertEquals(3, threads.size(), threads::toString);
    assertEquals(IntStream.range(0, 100).boxed().toList(), done.stream().sorted().toList());
  }

  @Test
  void oneWorkerKeepsTheOrderOfTheTasks() {
    SharedWorkers workers = new SharedWorkers(tasks::execute, 1, true);
    IntStream.range(0, 100).forEach(i -> workers.execute(task(i)));
    open.countDown();
    awaitDone(100);

    assertEquals(IntStream.range(0, 100).boxed().toList(), done);
  }

  @Test
  void aTaskThatThrowsEndsNoWorker() {
    SharedWorkers workers = new SharedWorkers(tasks::execute, 1, true);
    open.countDown();
    for (int i = 0; i < 10; i++) {
      workers.execute(
          () -> {
            throw new AssertionError("on purpose");
          });
      workers.execute(task(i));
    }
    awaitDone(10);
  }

  @Test
  void withoutAThreadTheCallerIsTheWorker() {
    SharedWorkers workers = new SharedWorkers(tasks::execute, 1, true);
    open.countDown();
    noThread = true;
    workers.execute(task(0));
    assertEquals(List.of(0), done);
    noThread = false;
    workers.execute(task(1));
    awaitDone(2);
  }

  @Test
  void aThreadThatCannotBeStartedCostsNoPermit() {
    SharedWorkers workers = new SharedWorkers(tasks::run, 3, false);
    open.countDown();
    noThread = true;
    for (int i = 0; i < 10; i++) {
      int number = i;
      assertThrows(StackOverflowError.class, () -> workers.execute(task(number)));
    }
    assertEquals(List.of(), done);

    noThread = false;
    workers.ensureWorker();
    awaitDone(10);
  }

  @Test
  void afterTheCloseTheCallerIsTheWorker() {
    SharedWorkers workers = new SharedWorkers(tasks::execute, 1, true);
    open.countDown();
    pool.close();
    workers.execute(task(0));
    workers.execute(task(1));

    assertEquals(List.of(0, 1), done);
    assertSame(Thread.currentThread(), threads.iterator().next());
  }

  /** As when a thread of the user, at the end of its stack, finds that its hold is lost. */
  @Test
  void aStackThatOverflowsCostsNoWorker() throws Exception {
    RejectedExecutionException none = new RejectedExecutionException("on purpose");
    AtomicBoolean deep = new AtomicBoolean(true);
    SharedWorkers workers =
        new SharedWorkers(
            worker -> {
              if (deep.getPlain()) {
                throw none;
              }
              tasks.execute(worker);
            },
            1,
            true);
    for (int pad = 0; pad < 200; pad++) {
      int levels = pad;
      Thread small = new Thread(null, () -> overflow(workers, levels), "small stack", 256 * 1024);
      small.start();
      small.join();
    }
    deep.setPlain(false);
    open.countDown();

    workers.execute(task(0));

    awaitDone(1);
  }

  private static void overflow(SharedWorkers workers, int pad) {
    if (pad > 0) {
      overflow(workers, pad - 1);
      return;
    }
    try {
      executeAtEachLevel(workers);
    } catch (StackOverflowError end) {
      // which is intended
    }
  }

  @SuppressWarnings("InfiniteRecursion") // to the end of the stack
  private static void executeAtEachLevel(SharedWorkers workers) {
    workers.execute(() -> {});
    executeAtEachLevel(workers);
  }

  @Test
  void aWorkerThatWasStartedInSpiteOfAnErrorCountsOnce() {
    StackOverflowError error = new StackOverflowError("on purpose");
    AtomicBoolean failing = new AtomicBoolean(true);
    SharedWorkers workers =
        new SharedWorkers(
            worker -> {
              tasks.execute(worker);
              if (failing.get()) {
                throw error;
              }
            },
            1,
            false);
    open.countDown();
    assertThrows(StackOverflowError.class, () -> workers.execute(task(0)));
    awaitDone(1);
    failing.set(false);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    for (int i = 1; i <= 100; i++) {
      int number = i;
      workers.execute(
          () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            LockSupport.parkNanos(100_000);
            running.decrementAndGet();
            done.add(number);
          });
    }
    awaitDone(101);

    assertEquals(1, most.get());
  }
}
