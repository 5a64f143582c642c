package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.LONG;
import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In what a read lock differs from an exclusive one. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class ReadLockTest {
  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final StepThread hand = new StepThread();

  @BeforeAll
  static void start() {
    rig = new TwoClients(LEASE, TwoClients.NO_SIGNS);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @AfterEach
  void dismiss() {
    hand.close();
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void readersHoldItTogetherAndAWriterWaitsForTheLast(boolean fair) throws Exception {
    DistributedLock reads = rig.here(name, fair).readLock();
    DistributedLock readsThere = rig.there(name, fair).readLock();
    DistributedLock writes = rig.there(name, fair).writeLock();
    reads.lock();
    assertTrue(hand.ask(reads::tryLock), "another thread");
    assertTrue(readsThere.tryLock(), "another process");
    try (Lease handle = reads.tryAcquire().orElseThrow()) {
      assertFalse(writes.isLocked());
      assertTrue(writes.remainingLease().isEmpty());
      assertTrue(reads.isLocked());
      handle.ensureValid();
    }
    try (StepThread writer = new StepThread()) {
      assertFalse(writer.ask(writes::tryLock));
      Future<?> waiting = writer.begin(writes::lock);
      rig.awaitWaiters(name, 1);
      reads.unlock();
      readsThere.unlock();
      assertFalse(waiting.isDone());
      hand.run(reads::unlock);
      StepThread.result(waiting);
      assertFalse(reads.isLocked());
      assertTrue(writes.isLocked());
      assertFalse(reads.tryLock());
      assertTrue(readsThere.tryAcquire().isEmpty());
      writer.run(writes::unlock);
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void reentryIsCountedAndCostsNoRoundTrip(boolean fair) {
    DistributedLock reads = rig.here(name, fair).readLock();
    reads.lock();
    rig.server.resetStats();
    for (int i = 2; i <= 50; i++) {
      reads.lock();
      assertEquals(i, reads.holdCount());
    }
    for (int i = 49; i >= 1; i--) {
      reads.unlock();
      assertEquals(i, reads.holdCount());
    }
    assertEquals(0L, rig.server.commandStats().getOrDefault("evalsha", 0L));
    assertTrue(reads.isLocked());
    reads.unlock();
    assertFalse(reads.isLocked());
    assertThrows(IllegalMonitorStateException.class, reads::unlock);
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aReadHasTheTokenOfTheLastWrite(boolean fair) {
    RedisReadWriteLock lock = rig.here(name, fair);
    RedisReadWriteLock there = rig.there(name, fair);
    long last;
    try (Lease first = lock.readLock().tryAcquire().orElseThrow()) {
      assertFalse(
          rig.number("EXISTS", "redisson_lock_token:{" + name + "}") == 1, "a read writes none");
      last = first.fencingToken();
    }
    for (int i = 0; i < 5; i++) {
      try (Lease write = (i % 2 == 0 ? lock : there).writeLock().tryAcquire().orElseThrow()) {
        assertTrue(write.fencingToken() > last);
        last = write.fencingToken();
      }
      try (Lease one = lock.readLock().tryAcquire().orElseThrow();
          Lease two = there.readLock().tryAcquire().orElseThrow()) {
        assertEquals(last, one.fencingToken());
        assertEquals(last, two.fencingToken());
      }
    }
    rig.server.command("DEL", "redisson_lock_token:{" + name + "}");
    try (Lease late = lock.readLock().tryAcquire().orElseThrow()) {
      assertTrue(late.fencingToken() > last, "also when the token's key is lost");
    }
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void eachReaderHasItsOwnLeaseAndIsRenewedForItselfOnly(boolean fair) throws Exception {
    DistributedLock reads = rig.here(name, fair).readLock();
    Lease brief = reads.tryAcquire(SHORT).orElseThrow();
    Lease renewed = reads.tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    brief.onLost(told::add);
    assertEquals(Reason.EXPIRED, told.poll(SLACK.toMillis(), TimeUnit.MILLISECONDS).reason());
    await()
        .during(LEASE.multipliedBy(2))
        .atMost(LEASE.multipliedBy(2).plus(SLACK))
        .until(() -> renewed.isValid() && rig.number("HLEN", name) >= 2);
    assertEquals(
        1, ((List<?>) rig.server.command("KEYS", "{" + name + "}:*:rwlock_timeout:1")).size());
    assertThrows(LeaseLostException.class, brief::close);
    renewed.close();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void nestedLeasesLengthenAndNeverShorten(boolean fair) {
    DistributedLock reads = rig.here(name, fair).readLock();
    Duration longer = Duration.ofSeconds(30);
    reads.lock(longer);
    reads.lock(SHORT);
    assertLeft(longer, reads);
    reads.unlock();
    assertLeft(longer, reads);
    reads.lock(LONG);
    assertLeft(LONG, reads);
    reads.unlock();
    reads.unlock();
    assertFalse(reads.isLocked());
  }

  private static void assertLeft(Duration lease, DistributedLock lock) {
    for (Duration left : List.of(lock.lease().remaining(), lock.remainingLease().orElseThrow())) {
      assertTrue(left.compareTo(lease) <= 0, left::toString);
      assertTrue(left.compareTo(lease.minus(SLACK)) > 0, left::toString);
    }
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void forceTakesItFromAllReadersAndEachIsToldSo(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    RedisReadWriteLock there = rig.there(name, fair);
    assertFalse(there.readLock().forceUnlock(), "nobody reads");
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    List<Lease> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(lock.readLock().tryAcquire().orElseThrow());
      readers.add(there.readLock().tryAcquire().orElseThrow());
    }
    readers.forEach(reader -> reader.onLost(told::add));
    hand.run(() -> lock.readLock().lock(LONG));
    assertFalse(there.writeLock().forceUnlock(), "nobody writes");
    assertTrue(there.readLock().isLocked());

    assertTrue(there.readLock().forceUnlock());
    assertTrue(there.writeLock().tryLock());
    for (int i = 0; i < readers.size(); i++) {
      assertEquals(Reason.FORCED, told.poll(SLACK.toMillis(), TimeUnit.MILLISECONDS).reason());
    }
    hand.run(
        () -> {
          LeaseLostException lost =
              assertThrows(LeaseLostException.class, () -> lock.readLock().unlock());
          assertEquals(Reason.FORCED, lost.loss().reason());
        });
    readers.forEach(reader -> assertThrows(LeaseLostException.class, reader::close));
    assertTrue(there.writeLock().isHeldByCurrentThread());
    there.writeLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWaitThatEndsLeavesNothingBehind(boolean fair) throws Exception {
    DistributedLock reads = rig.here(name, fair).readLock();
    DistributedLock writes = rig.there(name, fair).writeLock();
    writes.lock();
    assertFalse(reads.tryLock(SHORT));
    assertTrue(reads.acquire(SHORT).isEmpty());
    Future<?> interrupted =
        hand.begin(() -> assertThrows(InterruptedException.class, reads::lockInterruptibly));
    rig.awaitWaiters(name, 1);
    hand.interrupt();
    StepThread.result(interrupted);
    CompletionStage<Optional<Lease>> cancelled = reads.acquireAsync(LONG);
    rig.awaitWaiters(name, 1);
    cancelled.toCompletableFuture().cancel(true);
    rig.awaitWaiters(name, 0);
    writes.unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWriterThatStopsWaitingHoldsNobodyUp(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    Future<?> writer =
        hand.begin(
            () ->
                assertThrows(
                    InterruptedException.class,
                    () -> rig.there(name, fair).writeLock().lockInterruptibly()));
    rig.awaitWaiters(name, 1);
    CompletionStage<Optional<Lease>> waiting = lock.readLock().acquireAsync(LONG);
    rig.awaitWaiters(name, 2);
    long start = System.nanoTime();
    hand.interrupt();
    StepThread.result(writer);
    Lease second = StepThread.result(waiting.toCompletableFuture()).orElseThrow();
    long took = (System.nanoTime() - start) / 1_000_000;
    System.out.printf("fair %s: a reader is in %d ms after the writer gave up%n", fair, took);
    assertTrue(took < SLACK.toMillis());
    second.close();
    reader.close();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void objectsOfOneNameAndClientAreOneLock(boolean fair) {
    RedisReadWriteLock lock = rig.here(name, fair);
    assertEquals(lock, rig.here(name, fair));
    assertEquals(lock.hashCode(), rig.here(name, fair).hashCode());
    assertNotEquals(lock, rig.there(name, fair));
    assertEquals(lock.readLock(), rig.here(name, fair).readLock());
    assertNotEquals(lock.readLock(), lock.writeLock());
    assertEquals(fair, lock.isFair());
    assertEquals(name, lock.name());
    assertTrue(lock.toString().contains(name));
    lock.readLock().lock();
    assertTrue(rig.here(name, fair).readLock().isHeldByCurrentThread());
    rig.here(name, fair).readLock().unlock();
    for (String wrong : List.of("PT0.199S", "PT1H0.001S")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new RedisReadWriteLock(rig.here, name, fair, Duration.parse(wrong)));
    }
    assertThrows(IllegalArgumentException.class, () -> new RedisReadWriteLock(rig.here, " "));
  }
}
