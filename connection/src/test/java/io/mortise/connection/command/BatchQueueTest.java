package io.mortise.connection.command;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.testing.BackgroundCall;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchQueueTest {
  private static final long START = Long.MAX_VALUE - 1; // as System.nanoTime() may be
  private static final long HOUR = TimeUnit.HOURS.toNanos(1);

  private final WorkerPool workers = new WorkerPool("test");
  private final CommandException noConnection =
      new CommandException(Kind.POOL_EXHAUSTED, false, "on purpose", null);

  private final Queue<Integer> sent = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> refused = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> failed = new ConcurrentLinkedQueue<>();
  private long now = START;
  private final CountDownLatch began = new CountDownLatch(1);

  @AfterEach
  void close() {
    workers.close();
  }

  /** Returns a queue in which the least number is the most urgent. */
  private BatchQueue<Integer> queue(Consumer<Integer> send) {
    return queueThatSends(
        batch -> {
          send.accept(batch);
          return null;
        });
  }

  /** The same, where some batches have no connection; a batch above 100 waits longer for it. */
  private BatchQueue<Integer> queueThatSends(Function<Integer, @Nullable CommandException> send) {
    return new BatchQueue<>(
        new BatchQueue.Handling<>() {
          @Override
          public long deadlineNanos(Integer batch) {
            return START + HOUR + batch;
          }

          @Override
          public long limitNanos(Integer batch) {
            return batch > 100 ? HOUR : 1;
          }

          @Override
          public @Nullable CommandException send(Integer batch, Runnable answered) {
            CommandException unsent = send.apply(batch);
            if (unsent == null) {
              answered.run();
            }
            return unsent;
          }

          @Override
          public void fail(Integer batch, CommandException fault) {
            failed.add(batch);
          }

          @Override
          public void failRest(Integer batch) {
            failed.add(batch);
          }
        });
  }

  /** Returns a queue whose first worker waits with batch 1, and others have no connection. */
  private BatchQueue<Integer> queueWithOneConnection(CountDownLatch end) {
    AtomicBoolean inUse = new AtomicBoolean();
    return queueThatSends(
        batch -> {
          if (!inUse.compareAndSet(false, true)) {
            refused.add(batch);
            return noConnection;
          }
          waitIn(batch, end);
          sent.add(batch);
          inUse.set(false);
          return null;
        });
  }

  /** Starts a worker, which has begun to send batch 1 when this returns. */
  private void beginWithBatch1(BatchQueue<Integer> queue) {
    queue.add(1);
    assertTrue(queue.startWorker(workers, now));
    Uninterruptibles.awaitUninterruptibly(began);
  }

  /** Waits until the latch is open, if that is batch 1. */
  private void waitIn(int batch, CountDownLatch end) {
    if (batch == 1) {
      began.countDown();
      Uninterruptibles.awaitUninterruptibly(end);
    }
  }

  private static void awaitIdle(BatchQueue<Integer> queue) {
    await().atMost(BackgroundCall.LIVENESS).until(queue::isIdle);
  }

  @Test
  void aWorkerSendsWhatIsMostUrgentFirst() {
    BatchQueue<Integer> queue = queue(sent::add);
    queue.add(2);
    queue.add(3);
    queue.add(1);
    assertTrue(queue.isAbandoned());

    assertTrue(queue.startWorker(workers, now));

    awaitIdle(queue);
    assertEquals(List.of(1, 2, 3), List.copyOf(sent));
  }

  @Test
  void withNothingToSendNoWorkerIsNeeded() {
    workers.close();

    assertTrue(queue(sent::add).startWorker(workers, now));
  }

  @Test
  void withoutAWorkerWhatWaitsStays() {
    workers.close();
    BatchQueue<Integer> queue = queue(sent::add);
    queue.add(1);

    assertFalse(queue.startWorker(workers, now));

    assertTrue(queue.isAbandoned());
    assertEquals(1, queue.poll());
    assertTrue(queue.isIdle());
  }

  @Test
  void anErrorOfAWorkerLeavesTheRestToTheNextOne() {
    BatchQueue<Integer> queue =
        queue(
            batch -> {
              sent.add(batch);
              if (batch == 1) {
                throw new OutOfMemoryError("in the test");
              }
            });
    queue.add(1);
    queue.add(2);
    assertTrue(queue.startWorker(workers, now));
    await().atMost(BackgroundCall.LIVENESS).until(queue::isAbandoned);

    assertTrue(queue.startWorker(workers, now));

    awaitIdle(queue);
    assertEquals(List.of(1, 2), List.copyOf(sent));
    assertEquals(List.of(1), List.copyOf(failed), "what is left of it");
  }

  /** It would fail all of them, while the other one sends one. */
  @Test
  void aWorkerWithoutAConnectionLeavesTheBatchesToTheOthers() {
    CountDownLatch end = new CountDownLatch(1);
    BatchQueue<Integer> queue = queueWithOneConnection(end);
    beginWithBatch1(queue);
    queue.add(2);
    queue.add(3);
    assertTrue(queue.startWorker(workers, now));
    await().atMost(BackgroundCall.LIVENESS).until(() -> refused.size() == 1);

    end.countDown();

    awaitIdle(queue);
    assertEquals(List.of(1, 2, 3), List.copyOf(sent));
    assertEquals(List.of(), List.copyOf(failed));
  }

  @Test
  void theOnlyWorkerFailsWhatItCannotSend() {
    BatchQueue<Integer> queue = queueThatSends(batch -> noConnection);
    queue.add(1);
    queue.add(2);

    assertTrue(queue.startWorker(workers, now));

    awaitIdle(queue);
    assertEquals(List.of(1, 2), List.copyOf(failed));
  }

  private static CommandException timeOut() {
    return new CommandException(
        Kind.UNREACHABLE, false, "on purpose", new SocketTimeoutException("connect"));
  }

  /** Otherwise each would wait for a time-out of its own, and the last ones for all of them. */
  @Test
  void aServerThatNoWorkerReachesWithinATimeOutFailsAllThatWaitNoLonger() {
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger tried = new AtomicInteger();
    BatchQueue<Integer> queue =
        queueThatSends(
            batch -> {
              tried.incrementAndGet();
              waitIn(batch, end);
              return timeOut();
            });
    beginWithBatch1(queue);
    queue.add(2);
    queue.add(3);
    queue.add(4);

    assertTrue(queue.startWorker(workers, now));

    await().atMost(BackgroundCall.LIVENESS).until(() -> queue.running() == 1);
    assertEquals(List.of(2, 3, 4), List.copyOf(failed));
    end.countDown();
    awaitIdle(queue);
    assertEquals(List.of(2, 3, 4, 1), List.copyOf(failed));
    assertEquals(2, tried.get());
  }

  /** Another worker may have a connection, whose answer takes longer. */
  @Test
  void aTimeOutFailsNoBatchThatWouldWaitLonger() {
    CountDownLatch end = new CountDownLatch(1);
    BatchQueue<Integer> queue =
        queueThatSends(
            batch -> {
              waitIn(batch, end);
              if (batch == 2) {
                return timeOut();
              }
              sent.add(batch);
              return null;
            });
    beginWithBatch1(queue);
    queue.add(2);
    queue.add(3);
    queue.add(101);

    assertTrue(queue.startWorker(workers, now));

    await().atMost(BackgroundCall.LIVENESS).until(() -> queue.running() == 1);
    assertEquals(List.of(2, 3), List.copyOf(failed));
    assertEquals(List.of(101), List.copyOf(sent));
    end.countDown();
    awaitIdle(queue);
    assertEquals(List.of(101, 1), List.copyOf(sent));
  }

  /** The server can be reached: it may only take no more connections. */
  @Test
  void aTimeOutFailsNoBatchWhileAnotherWorkerHasAConnection() {
    CountDownLatch timesOut = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    BatchQueue<Integer> queue =
        queueThatSends(
            batch -> {
              if (batch == 1 && refused.isEmpty()) {
                began.countDown();
                Uninterruptibles.awaitUninterruptibly(timesOut);
                refused.add(batch);
                return timeOut();
              }
              sent.add(batch);
              if (batch == 3) {
                timesOut.countDown();
                Uninterruptibles.awaitUninterruptibly(end);
              }
              return null;
            });
    beginWithBatch1(queue);
    queue.add(2);
    queue.add(3);
    assertTrue(queue.startWorker(workers, now));
    await().atMost(BackgroundCall.LIVENESS).until(() -> queue.running() == 1);

    end.countDown();

    awaitIdle(queue);
    assertEquals(List.of(2, 3, 1), List.copyOf(sent));
    assertEquals(List.of(), List.copyOf(failed));
  }

  /** Two keep it busy; with more, all other commands would wait behind as many batches. */
  @Test
  void aServerThatAnswersHasTwoWorkers() {
    LongQueue batches = new LongQueue();
    for (int window = 0; window < 10; window++) {
      batches.send(BatchQueue.FIRST_WORKERS);
      now += BatchQueue.WINDOW_NANOS;

      assertTrue(batches.queue.startWorker(workers, now));

      assertEquals(2, batches.queue.running());
    }
    batches.end();
  }

  @Test
  void aServerThatAnswersSlowlyHasOneMoreForEachWindow() {
    LongQueue batches = new LongQueue();
    for (int expected = 3; expected <= BatchQueue.MAX_WORKERS; expected++) {
      batches.send(batches.queue.running() - 1);
      now += BatchQueue.WINDOW_NANOS - 1;
      assertTrue(batches.queue.startWorker(workers, now));
      assertEquals(expected - 1, batches.queue.running(), "the window is not over");
      now++;

      assertTrue(batches.queue.startWorker(workers, now));

      assertEquals(expected, batches.queue.running());
    }
    now += BatchQueue.WINDOW_NANOS;
    assertTrue(batches.queue.startWorker(workers, now));
    assertEquals(BatchQueue.MAX_WORKERS, batches.queue.running());
    batches.end();
  }

  /** A hold that is nearly over is worth more than the time of other commands. */
  @Test
  void anUrgentBatchHasAllWorkersAtOnce() {
    LongQueue batches = new LongQueue();
    now = START + HOUR - BatchQueue.URGENT_NANOS;
    assertTrue(batches.queue.startWorker(workers, now)); // not quite: a window is over
    int before = batches.queue.running();
    assertTrue(batches.queue.startWorker(workers, now));
    assertEquals(before, batches.queue.running());
    now += LongQueue.BATCHES;

    for (int i = 0; i < BatchQueue.MAX_WORKERS; i++) {
      assertTrue(batches.queue.startWorker(workers, now));
    }

    assertEquals(BatchQueue.MAX_WORKERS, batches.queue.running());
    batches.end();
  }

  /** A hundred batches, each of which is sent when the test permits it. */
  private final class LongQueue {
    private static final int BATCHES = 100;

    final Semaphore permits = new Semaphore(0);
    final AtomicInteger sending = new AtomicInteger();
    final BatchQueue<Integer> queue =
        queue(
            batch -> {
              sending.incrementAndGet();
              permits.acquireUninterruptibly();
              sent.add(batch);
              sending.decrementAndGet();
            });

    LongQueue() {
      for (int i = 0; i < BATCHES; i++) {
        queue.add(i);
        assertTrue(queue.startWorker(workers, now));
      }
      assertEquals(BatchQueue.FIRST_WORKERS, queue.running());
    }

    /** Has that many batches sent; then each worker has the next one. */
    void send(int batches) {
      int all = sent.size() + batches;
      permits.release(batches);
      await()
          .atMost(BackgroundCall.LIVENESS)
          .until(() -> sent.size() == all && sending.get() == queue.running());
    }

    void end() {
      permits.release(BATCHES);
      awaitIdle(queue);
      assertEquals(BATCHES, sent.size());
    }
  }
}
