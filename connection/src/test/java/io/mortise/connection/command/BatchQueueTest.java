package io.mortise.connection.command;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchQueueTest {
  private final WorkerPool workers = new WorkerPool("test");
  private final Queue<Integer> sent = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    workers.close();
  }

  /** Returns a queue in which the least number is the most urgent. */
  private static BatchQueue<Integer> queue(Consumer<Integer> send) {
    return new BatchQueue<>(Integer::compare, send);
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

    assertTrue(queue.startWorker(workers));

    awaitIdle(queue);
    assertEquals(List.of(1, 2, 3), List.copyOf(sent));
  }

  @Test
  void withNothingToSendNoWorkerIsNeeded() {
    workers.close();

    assertTrue(queue(sent::add).startWorker(workers));
  }

  @Test
  void withoutAWorkerWhatWaitsStays() {
    workers.close();
    BatchQueue<Integer> queue = queue(sent::add);
    queue.add(1);

    assertFalse(queue.startWorker(workers));

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
    assertTrue(queue.startWorker(workers));
    await().atMost(BackgroundCall.LIVENESS).until(queue::isAbandoned);

    assertTrue(queue.startWorker(workers));

    awaitIdle(queue);
    assertEquals(List.of(1, 2), List.copyOf(sent));
  }
}
