package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Neither readers nor writers starve, fair or not. */
@Timeout(60)
class StarvationTest {
  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private static final int ROUNDS = 20;

  /** The readers' turn lasts half a second. */
  private static final long WITHIN_THE_TURN_NANOS = 400_000_000;

  private final AtomicBoolean stop = new AtomicBoolean();
  private final List<Future<?>> running = new ArrayList<>();

  private void repeat(StepThread.Step step) {
    running.add(
        locks
            .thread()
            .begin(
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
  }

  /** Does a step, and returns how long it took, in ms. */
  private static double millisOf(StepThread.Step step) throws Exception {
    long start = System.nanoTime();
    step.run();
    return (System.nanoTime() - start) / 1e6;
  }

  @FairAndUnfair
  void aWriterEntersAmongReadersThatOverlapAllTheTime(boolean fair) throws Exception {
    AtomicInteger reading = new AtomicInteger();
    AtomicInteger reads = new AtomicInteger();
    AtomicInteger gaps = new AtomicInteger();
    AtomicBoolean writing = new AtomicBoolean();
    for (int i = 0; i < 8; i++) {
      DistributedLock lock = (i % 2 == 0 ? locks.here(fair) : locks.there(fair)).readLock();
      repeat(
          () -> {
            lock.lock();
            reading.incrementAndGet();
            reads.incrementAndGet();
            LockSupport.parkNanos(5_000_000);
            leaveToAnotherReader(reading, gaps, writing);
            lock.unlock();
          });
    }
    DistributedLock writes = locks.there(fair).writeLock();
    await().atMost(SLACK).until(() -> reads.get() >= 20); // from then on without a gap
    int before = reads.get();
    int gapsBefore = gaps.get();
    double longest = 0;
    writing.set(true);
    for (int i = 0; i < 5; i++) {
      longest = Math.max(longest, millisOf(() -> assertTrue(writes.tryLock(SLACK), "starved")));
      assertEquals(0, reading.get());
      writes.unlock();
    }
    System.out.printf(
        "fair %s: %d reads with %d gaps, then 5 writes among %d reads; longest wait %.1f ms%n",
        fair, before, gapsBefore, reads.get() - before, longest);
    assertEquals(0, gapsBefore, "they overlap all the time");
    stopAll();
  }

  /**
   * A reader leaves when there is another one, so that there is one at every moment. The last one
   * before a writer leaves after a while.
   */
  private static void leaveToAnotherReader(
      AtomicInteger reading, AtomicInteger gaps, AtomicBoolean writing) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < (writing.get() ? 400_000_000 : SLACK.toNanos())) {
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

  @FairAndUnfair
  void readersEnterAmongEightWritersOfOneProcess(boolean fair) throws Exception {
    AtomicInteger writes = new AtomicInteger();
    DistributedLock writing = locks.here(fair).writeLock();
    for (int i = 0; i < 8; i++) {
      repeat(
          () -> {
            writing.lock();
            writes.incrementAndGet();
            writing.unlock();
          });
    }
    DistributedLock reads = locks.there(fair).readLock();
    double longest = 0;
    int most = 0;
    int before = writes.get();
    for (int i = 0; i < 100; i++) {
      int seen = writes.get();
      longest = Math.max(longest, millisOf(reads::lock));
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
  void readersFarAwayEnterBeforeTheNextWriterOfTheProcessThatReleases() throws Exception {
    boolean inTime = false;
    for (int round = 0; !inTime && round < ROUNDS; round++) {
      inTime = readersFarAwayEnterFirst(ReadWriteFixture.freshName());
    }
    assertTrue(inTime, "in no round the readers came before their turn was over");
  }

  /**
   * Returns whether the readers came before their turn was over. If one comes later, because the
   * machine stood still, the writer is rightly before it.
   */
  private boolean readersFarAwayEnterFirst(String name) throws Exception {
    RedisReadWriteLock lock =
        ReadWriteFixture.lock(clients.here(), name, false, ReadWriteFixture.NO_HEARTBEAT);
    AtomicInteger readersIn = new AtomicInteger();
    AtomicInteger readersBeforeTheWriter = new AtomicInteger(-1);
    AtomicLong lastInNanos = new AtomicLong();
    List<Future<?>> waiting = new ArrayList<>();
    long start;
    try (FaultProxy proxy = FaultProxy.to(locks.server());
        LockClient far =
            LockClient.create(
                proxy.uri(), LockOptions.builder().tuning(t -> t.maxHandOffs(0)).build())) {
      StepThread writer = locks.thread();
      proxy.delay(Duration.ofMillis(30));
      lock.writeLock().lock();
      for (int i = 0; i < 10; i++) {
        DistributedLock reads = new RedisReadWriteLock(far, name).readLock();
        waiting.add(
            locks
                .thread()
                .begin(
                    () -> {
                      reads.lock();
                      lastInNanos.accumulateAndGet(System.nanoTime(), Math::max);
                      readersIn.incrementAndGet();
                      reads.unlock();
                    }));
      }
      waiting.add(
          writer.begin(
              () -> {
                lock.writeLock().lock(); // first in the local queue of this client: it asks at once
                readersBeforeTheWriter.set(readersIn.get());
                lock.writeLock().unlock();
              }));
      writer.awaitBlocked();
      locks.awaitWaiters(name, 10);
      awaitSubscriber(name);
      lastInNanos.set(System.nanoTime());
      start = System.nanoTime();
      lock.writeLock().unlock();
      for (Future<?> each : waiting) {
        StepThread.result(each);
      }
      System.out.printf(
          "10 readers 60 ms away, then the writer: %.1f ms%n", (System.nanoTime() - start) / 1e6);
    }
    boolean inTime = lastInNanos.get() - start < WITHIN_THE_TURN_NANOS;
    if (inTime) {
      assertEquals(10, readersBeforeTheWriter.get());
    }
    return inTime;
  }

  /** Waits until the channel is subscribed, so that no waiter polls. */
  private void awaitSubscriber(String name) {
    await()
        .until(
            () ->
                ((List<?>)
                            locks
                                .server()
                                .command("PUBSUB", "CHANNELS", "redisson_rwlock:*" + name + "*"))
                        .size()
                    == 1);
  }

  @Test
  void aDeadWaitingReaderDelaysWritersByAtMostTheReadersTurn() throws Exception {
    RedisReadWriteLock lock = locks.here(false);
    lock.writeLock().lock();
    // As a process leaves it that is killed at this moment.
    locks
        .server()
        .command("ZADD", "mortise_read_waiters:{" + locks.name + "}", "9999999999999", "dead:1");
    double waited = // from before the release: what comes late makes the time longer
        millisOf(
            () -> {
              lock.writeLock().unlock();
              lock.writeLock().lock();
            });
    System.out.printf("a writer waited %.1f ms for a dead reader's turn%n", waited);
    assertTrue(waited >= 400 && waited < SLACK.toMillis(), () -> waited + " ms");
    lock.writeLock().unlock();
  }

  @Test
  void aWriterWhoseClientIsClosedDelaysNoReader() throws Exception {
    DistributedLock reads = locks.here(false).readLock();
    reads.lock();
    LockClient closing = clients.client();
    StepThread writer = locks.thread();
    StepThread reader = locks.thread();
    try {
      Future<?> waiting =
          writer.begin(() -> new RedisReadWriteLock(closing, locks.name).writeLock().lock());
      locks.awaitWaiters(1);
      Future<?> second = reader.begin(reads::lock);
      locks.awaitWaiters(2);
      double waited =
          millisOf(
              () -> {
                closing.close();
                StepThread.result(second);
              });
      System.out.printf("a reader enters %.1f ms after the writer's client closed%n", waited);
      assertTrue(waited < SLACK.toMillis());
      reader.run(reads::unlock);
      assertThrows(LockException.class, () -> StepThread.result(waiting));
    } finally {
      closing.close();
    }
    reads.unlock();
  }
}
