package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Neither readers nor writers are kept waiting for ever by the others, fair or not. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class StarvationTest {
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final AtomicBoolean stop = new AtomicBoolean();
  private final List<StepThread> hands = new ArrayList<>();
  private final List<Future<?>> running = new ArrayList<>();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.NO_SIGNS);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private void inBackground(StepThread.Step step) {
    StepThread hand = new StepThread();
    hands.add(hand);
    running.add(
        hand.begin(
            () -> {
              while (!stop.get()) {
                step.run();
              }
            }));
  }

  private void stopAll() throws Exception {
    stop.set(true);
    for (Future<?> each : running) {
      StepThread.result(each);
    }
    hands.forEach(StepThread::close);
    assertEquals(List.of(), rig.keys(name));
  }

  /** How long that takes, in ms. */
  private static double timed(StepThread.Step step) throws Exception {
    long start = System.nanoTime();
    step.run();
    return (System.nanoTime() - start) / 1e6;
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWriterComesInAmongReadersThatOverlapWithoutEnd(boolean fair) throws Exception {
    AtomicInteger reading = new AtomicInteger();
    AtomicInteger reads = new AtomicInteger();
    AtomicInteger gaps = new AtomicInteger();
    for (int i = 0; i < 8; i++) {
      DistributedLock lock = (i % 2 == 0 ? rig.here(name, fair) : rig.there(name, fair)).readLock();
      inBackground(
          () -> {
            lock.lock();
            reading.incrementAndGet();
            reads.incrementAndGet();
            LockSupport.parkNanos(5_000_000);
            leaveToAnother(reading, gaps);
            lock.unlock();
          });
    }
    DistributedLock writes = rig.there(name, fair).writeLock();
    await().atMost(SLACK).until(() -> reads.get() >= 20); // they read without a gap by then
    int before = reads.get();
    int gapsBefore = gaps.get();
    double longest = 0;
    for (int i = 0; i < 5; i++) {
      longest = Math.max(longest, timed(() -> assertTrue(writes.tryLock(SLACK), "starved")));
      assertEquals(0, reading.get());
      writes.unlock();
    }
    System.out.printf(
        "fair %s: %d reads with %d gaps, then 5 writes among %d reads; longest wait %.1f ms%n",
        fair, before, gapsBefore, reads.get() - before, longest);
    assertEquals(0, gapsBefore, "they overlap without end");
    stopAll();
  }

  /** Waits for another reader before it leaves, for a while: so there is one at every moment. */
  private static void leaveToAnother(AtomicInteger reading, AtomicInteger gaps) {
    long end = System.nanoTime() + 400_000_000;
    while (System.nanoTime() - end < 0) {
      int now = reading.get();
      if (now > 1 && reading.compareAndSet(now, now - 1)) {
        return;
      }
      LockSupport.parkNanos(1_000_000);
    }
    if (reading.decrementAndGet() == 0) {
      gaps.incrementAndGet();
    }
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void readersComeInAmongEightWritersOfOneProcess(boolean fair) throws Exception {
    AtomicInteger writes = new AtomicInteger();
    DistributedLock writing = rig.here(name, fair).writeLock();
    for (int i = 0; i < 8; i++) {
      inBackground(
          () -> {
            writing.lock();
            writes.incrementAndGet();
            writing.unlock();
          });
    }
    DistributedLock reads = rig.there(name, fair).readLock();
    double longest = 0;
    int most = 0;
    int before = writes.get();
    for (int i = 0; i < 100; i++) {
      int seen = writes.get();
      longest = Math.max(longest, timed(reads::lock));
      most = Math.max(most, writes.get() - seen);
      reads.unlock();
    }
    int all = writes.get() - before;
    System.out.printf(
        "fair %s: 100 reads among %d writes; longest wait %.1f ms, at most %d writes long%n",
        fair, all, longest, most);
    assertTrue(longest < SLACK.toMillis(), () -> "a reader waited too long");
    stopAll();
  }

  @Test
  void readersFarAwayComeInBeforeTheNextWriterOfTheProcessThatReleases() throws Exception {
    RedisReadWriteLock lock = rig.here(name, false);
    AtomicInteger readersIn = new AtomicInteger();
    AtomicInteger readersBeforeTheWriter = new AtomicInteger(-1);
    List<Future<?>> waiting = new ArrayList<>();
    try (FaultProxy proxy = FaultProxy.to(rig.server);
        LockClient far =
            LockClient.create(proxy.uri(), LockOptions.builder().maxHandOffs(0).build());
        StepThread writer = new StepThread()) {
      proxy.delay(Duration.ofMillis(30));
      lock.writeLock().lock();
      for (int i = 0; i < 10; i++) {
        DistributedLock reads = new RedisReadWriteLock(far, name).readLock();
        StepThread hand = new StepThread();
        hands.add(hand);
        waiting.add(
            hand.begin(
                () -> {
                  reads.lock();
                  readersIn.incrementAndGet();
                  reads.unlock();
                }));
      }
      waiting.add(
          writer.begin(
              () -> {
                lock.writeLock().lock(); // the next in the line of this client: it asks at once
                readersBeforeTheWriter.set(readersIn.get());
                lock.writeLock().unlock();
              }));
      writer.awaitBlocked();
      rig.awaitWaiters(name, 10);
      awaitListener();
      long start = System.nanoTime();
      lock.writeLock().unlock();
      for (Future<?> each : waiting) {
        StepThread.result(each);
      }
      System.out.printf(
          "10 readers 60 ms away, then the writer: %.1f ms%n", (System.nanoTime() - start) / 1e6);
    }
    assertEquals(10, readersBeforeTheWriter.get());
    stopAll();
  }

  /** Until a message will be heard, so that nobody has to look for himself. */
  private void awaitListener() {
    await()
        .until(
            () ->
                ((List<?>)
                            rig.server.command(
                                "PUBSUB", "CHANNELS", "redisson_rwlock:*" + name + "*"))
                        .size()
                    == 1);
  }

  @Test
  void aReaderThatDiedWhileItWaitedDelaysWritersByNoMoreThanATurn() throws Exception {
    RedisReadWriteLock lock = rig.here(name, false);
    lock.writeLock().lock();
    // As a process that was killed at this moment would leave it.
    rig.server.command("ZADD", "mortise_read_waiters:{" + name + "}", "9999999999999", "dead:1");
    lock.writeLock().unlock();
    double waited = timed(() -> lock.writeLock().lock());
    System.out.printf("a writer waited %.1f ms for a dead reader's turn%n", waited);
    assertTrue(waited >= 400 && waited < SLACK.toMillis(), () -> waited + " ms");
    lock.writeLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @Test
  void aWriterWhoseClientIsClosedHoldsNoReaderUp() throws Exception {
    DistributedLock reads = rig.here(name, false).readLock();
    reads.lock();
    LockClient closing = rig.client();
    try (StepThread writer = new StepThread()) {
      Future<?> waiting =
          writer.begin(() -> new RedisReadWriteLock(closing, name).writeLock().lock());
      rig.awaitWaiters(name, 1);
      try (StepThread reader = new StepThread()) {
        Future<?> second = reader.begin(reads::lock);
        rig.awaitWaiters(name, 2);
        double waited =
            timed(
                () -> {
                  closing.close();
                  StepThread.result(second);
                });
        System.out.printf("a reader is in %.1f ms after the writer's client closed%n", waited);
        assertTrue(waited < SLACK.toMillis());
        reader.run(reads::unlock);
      }
      assertThrows(LockException.class, () -> StepThread.result(waiting));
    } finally {
      closing.close();
    }
    reads.unlock();
    assertEquals(List.of(), rig.keys(name));
  }
}
