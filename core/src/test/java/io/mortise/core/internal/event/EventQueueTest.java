package io.mortise.core.internal.event;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EventQueueTest {
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final List<Long> delivered = new CopyOnWriteArrayList<>();
  private final Semaphore gate = new Semaphore(0);
  private volatile Thread thread;
  private EventQueue queue = queue(this::record);

  @AfterEach
  void close() {
    gate.release(1_000_000);
    queue.close(LONG_NANOS);
  }

  private EventQueue queue(LockListener... listeners) {
    EventQueue made =
        new EventQueue(
            List.of(listeners),
            new FakeTicker(),
            task -> {
              thread = new Thread(task, "events under test");
              thread.setDaemon(true);
              return thread;
            });
    made.start();
    return made;
  }

  private void use(LockListener... listeners) {
    queue.close(LONG_NANOS);
    queue = queue(listeners);
  }

  private void record(LockEvent event) {
    delivered.add(event.acquisition().orElseThrow());
  }

  private void block(LockEvent event) {
    gate.acquireUninterruptibly();
    record(event);
  }

  private void put(long number) {
    queue.put(
        LockEvent.builder(LockEvent.Type.REQUESTED, "client", Instant.EPOCH)
            .acquisition(number, "thread", 1)
            .build());
  }

  private void awaitDelivered(int count) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> delivered.size() == count);
  }

  private static List<Long> numbers(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(Long::valueOf).toList();
  }

  @Test
  void eventsAreDeliveredInTheirOrderOnOneThread() {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    use(event -> threads.add(Thread.currentThread()), this::record);

    IntStream.rangeClosed(1, 2_000).forEach(this::put);
    awaitDelivered(2_000);

    assertEquals(numbers(1, 2_000), delivered);
    assertEquals(List.of(thread), threads.stream().distinct().toList());
    assertEquals(0, queue.dropped());
  }

  /** The thread parks between the events: each of them has to wake it. */
  @Test
  void anEventAfterAPauseIsDelivered() {
    for (int i = 1; i <= 20; i++) {
      await()
          .atMost(BackgroundCall.LIVENESS)
          .until(() -> thread.getState() == Thread.State.WAITING);
      put(i);
      awaitDelivered(i);
    }
  }

  @Test
  void noEventIsMissedOfManyProducers() throws Exception {
    long producers = 4;
    int each = 5_000;
    AtomicInteger received = new AtomicInteger();
    use(event -> received.incrementAndGet());
    List<BackgroundCall<Boolean>> calls = new ArrayList<>();
    for (int i = 0; i < producers; i++) {
      calls.add(
          BackgroundCall.start(
              () -> {
                for (int n = 1; n <= each; n++) {
                  put(n);
                }
                return true;
              }));
    }
    for (BackgroundCall<Boolean> call : calls) {
      assertTrue(call.get());
    }

    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> received.get() + queue.dropped() == producers * each);
  }

  @Test
  void aListenerThatBlocksFillsTheQueueAndNoProducerWaits() {
    use(this::block);
    put(1);
    await().atMost(BackgroundCall.LIVENESS).until(gate::hasQueuedThreads);

    IntStream.rangeClosed(2, EventQueue.CAPACITY + 101).forEach(this::put);

    assertEquals(100, queue.dropped());
    gate.release(1_000_000);
    awaitDelivered(EventQueue.CAPACITY + 1);
    assertEquals(numbers(1, EventQueue.CAPACITY + 1), delivered, "the latest were dropped");
    put(7);
    awaitDelivered(EventQueue.CAPACITY + 2);
    assertEquals(100, queue.dropped());
  }

  @Test
  void aListenerThatThrowsIsCalledAgainAndHidesNothingFromOthers() {
    AtomicInteger calls = new AtomicInteger();
    List<Throwable> thrown =
        List.of(new IllegalStateException(), new AssertionError(), new OutOfMemoryError());
    use(
        event -> {
          sneak(thrown.get(calls.getAndIncrement() % thrown.size()));
        },
        this::record);

    IntStream.rangeClosed(1, 30).forEach(this::put);
    awaitDelivered(30);

    assertEquals(30, calls.get());
    assertEquals(0, queue.dropped());
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  void anInterruptThatAListenerLeavesBehindReachesNoOther() {
    List<Boolean> interrupted = new CopyOnWriteArrayList<>();
    use(
        event -> Thread.currentThread().interrupt(),
        event -> interrupted.add(Thread.currentThread().isInterrupted()),
        this::record);

    put(1);
    awaitDelivered(1);
    put(2);
    awaitDelivered(2);

    assertEquals(List.of(false, false), interrupted);
  }

  @Test
  void closingDeliversWhatWasTakenAndEndsTheThread() throws Exception {
    use(this::block);
    IntStream.rangeClosed(1, 500).forEach(this::put);
    await().atMost(BackgroundCall.LIVENESS).until(gate::hasQueuedThreads);
    BackgroundCall<Boolean> closing =
        BackgroundCall.startAndPark(
            () -> {
              queue.close(LONG_NANOS);
              return true;
            });

    gate.release(500);

    assertTrue(closing.get());

    assertEquals(numbers(1, 500), delivered);
    assertFalse(thread.isAlive());
    put(501);
    assertEquals(1, queue.dropped());
  }

  @Test
  void closingInterruptsAListenerThatDoesNotReturnAndDropsTheRest() throws Exception {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    CountDownLatch called = new CountDownLatch(1);
    use(
        event -> {
          called.countDown();
          try {
            gate.acquire();
          } catch (InterruptedException e) {
            interrupted.complete(true);
          }
        });
    IntStream.rangeClosed(1, 10).forEach(this::put);
    assertTrue(called.await(20, TimeUnit.SECONDS));

    queue.close(SHORT_NANOS);

    assertTrue(interrupted.get(20, TimeUnit.SECONDS));
    await().atMost(BackgroundCall.LIVENESS).until(() -> !thread.isAlive());
    assertEquals(9, queue.dropped());
  }

  @Test
  void anInterruptDoesNotShortenTheClosing() {
    use(this::block);
    put(1);
    await().atMost(BackgroundCall.LIVENESS).until(gate::hasQueuedThreads);
    Thread.currentThread().interrupt();
    long start = System.nanoTime();

    queue.close(SHORT_NANOS);

    assertTrue(Thread.interrupted(), "the interrupt is kept");
    assertTrue(System.nanoTime() - start >= SHORT_NANOS);
    gate.release();
    awaitDelivered(1);
  }

  @Test
  void aListenerMayCloseTheQueue() {
    use(
        event -> {
          if (event.acquisition().orElseThrow() == 1) {
            gate.acquireUninterruptibly();
            queue.close(LONG_NANOS);
          }
        },
        this::record);
    put(1);
    put(2);
    put(3);

    gate.release();

    await().atMost(BackgroundCall.LIVENESS).until(() -> !thread.isAlive());
    assertEquals(numbers(1, 3), delivered);
    assertEquals(0, queue.dropped());
  }

  @Test
  void anEventThatCouldNotBeMadeIsCounted() {
    queue.recordDrop();
    queue.recordDrop();

    assertEquals(2, queue.dropped());
  }

  /** The interrupt of the close is for the listener that runs; the next one might block too. */
  @Test
  void afterTheCloseNoOtherListenerIsCalled() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    use(
        event -> {
          called.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        this::record);
    put(1);
    called.await();

    queue.close(SHORT_NANOS);

    thread.join();
    assertEquals(List.of(), delivered);
  }
}
