package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.LONG;
import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread that writes may read too, and go on reading; a thread that reads may not write. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class DowngradeTest {
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final StepThread hand = new StepThread();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.NO_SIGNS);
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
  void waitingReadersAreWokenWhenAWriterDowngrades(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    DistributedLock elsewhere = rig.there(name, fair).readLock();
    List<Future<Long>> readers = new ArrayList<>();
    List<StepThread> hands = new ArrayList<>();
    try {
      lock.writeLock().lock();
      lock.readLock().lock();
      assertEquals(1, lock.readLock().holdCount());
      for (int i = 0; i < 10; i++) {
        DistributedLock reads = i % 2 == 0 ? elsewhere : lock.readLock();
        StepThread each = new StepThread();
        hands.add(each);
        readers.add(
            each.start(
                () -> {
                  reads.lock();
                  return System.nanoTime();
                }));
      }
      rig.awaitWaiters(name, 10);
      long released = System.nanoTime();
      lock.writeLock().unlock();
      long last = released;
      for (Future<Long> reader : readers) {
        last = Math.max(last, StepThread.result(reader));
      }
      System.out.printf(
          "fair %s: 10 readers are in %.1f ms after the downgrade%n",
          fair, (last - released) / 1e6);
      assertTrue(last - released < SLACK.toNanos());
      assertTrue(lock.readLock().isHeldByCurrentThread(), "and it reads on");
      assertFalse(hand.ask(() -> lock.writeLock().tryLock()));
      for (int i = 0; i < hands.size(); i++) {
        hands.get(i).run((i % 2 == 0 ? elsewhere : lock.readLock())::unlock);
      }
    } finally {
      hands.forEach(StepThread::close);
    }
    assertFalse(hand.ask(() -> lock.writeLock().tryLock()), "one reads still");
    lock.readLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWriterReadsWithoutWaitingWhoeverWaits(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    lock.writeLock().lock();
    Future<?> writer = hand.begin(() -> rig.there(name, fair).writeLock().lock());
    rig.awaitWaiters(name, 1);
    assertTrue(lock.readLock().tryLock());
    try (Lease handle = lock.readLock().tryAcquire().orElseThrow()) {
      handle.ensureValid();
      Lease later =
          StepThread.result(lock.readLock().acquireAsync(LONG).toCompletableFuture()).get();
      later.close();
    }
    lock.writeLock().unlock();
    assertFalse(writer.isDone(), "it reads on");
    lock.readLock().unlock();
    StepThread.result(writer);
    hand.run(() -> rig.there(name, fair).writeLock().unlock());
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void nobodyElseReadsBelowAWriter(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    lock.writeLock().lock();
    assertFalse(hand.ask(() -> lock.readLock().tryLock()), "another thread");
    lock.writeLock().unlock();
    try (Lease handle = lock.writeLock().tryAcquire().orElseThrow()) {
      handle.ensureValid();
      assertFalse(lock.readLock().tryLock(), "a handle belongs to no thread");
      assertTrue(lock.readLock().tryAcquire().isEmpty());
    }
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void writeAndReadEndEachWithItsOwnLease(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    lock.writeLock().lock(Duration.ofMillis(400));
    lock.readLock().lock(LONG);
    assertTrue(lock.writeLock().remainingLease().orElseThrow().toMillis() <= 400);
    // The write hold runs out, unreleased: from then on others may read, and nobody may write.
    Lease other = rig.there(name, fair).readLock().acquire(SLACK).orElseThrow();
    assertFalse(lock.writeLock().isHeldByCurrentThread());
    assertTrue(lock.readLock().isHeldByCurrentThread());
    LeaseLostException lost =
        assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
    assertEquals(Reason.EXPIRED, lost.loss().reason());
    assertFalse(hand.ask(() -> lock.writeLock().tryLock()));
    other.close();
    lock.readLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aLongerReadBelowAWriterDoesNotLengthenTheWrite(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    lock.writeLock().lock(Duration.ofSeconds(1));
    lock.readLock().lock(LONG);
    lock.readLock().unlock();
    assertTrue(rig.millisLeft(name) <= 1_000);
    assertTrue(rig.there(name, fair).writeLock().tryLock(SLACK), "in when the write ran out");
    rig.there(name, fair).writeLock().unlock();
    assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void forceOnTheWriteLockLeavesTheReadsOfItsThread(boolean fair) {
    RedisReadWriteLock lock = rig.here(name, fair);
    lock.writeLock().lock();
    lock.readLock().lock();
    assertTrue(rig.there(name, fair).writeLock().forceUnlock());
    assertTrue(rig.there(name, fair).readLock().tryLock());
    rig.there(name, fair).readLock().unlock();
    LeaseLostException lost =
        assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
    assertEquals(Reason.FORCED, lost.loss().reason());
    lock.readLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void upgradeIsRefusedAtOnceWithTheReasonAndNothingIsSent(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    DistributedLock writes = lock.writeLock();
    lock.readLock().lock();
    rig.server.resetStats();
    for (StepThread.Step step :
        List.<StepThread.Step>of(
            () -> writes.lock(),
            () -> writes.lock(LONG),
            () -> writes.lockInterruptibly(),
            () -> writes.lockInterruptibly(LONG),
            () -> writes.acquire(LONG),
            () -> writes.acquire(LONG, LONG))) {
      var refused = assertThrows(IllegalStateException.class, step::run);
      assertTrue(refused.getMessage().contains(name), refused::getMessage);
      assertTrue(refused.getMessage().contains("holds the read lock"), refused::getMessage);
      assertTrue(refused.getMessage().contains("release it first"), refused::getMessage);
    }
    assertFalse(writes.tryLock());
    assertFalse(writes.tryLock(LONG));
    assertFalse(writes.tryLock(LONG, LONG));
    assertTrue(writes.tryAcquire().isEmpty());
    assertTrue(writes.acquire(Duration.ZERO).isEmpty());
    assertEquals(0L, rig.server.commandStats().getOrDefault("evalsha", 0L));
    assertTrue(lock.readLock().isHeldByCurrentThread());

    // Without a thread that waits it is no upgrade: the read may be given up meanwhile.
    CompletionStage<Optional<Lease>> later = writes.acquireAsync(LONG);
    rig.awaitWaiters(name, 1);
    lock.readLock().unlock();
    StepThread.result(later.toCompletableFuture()).orElseThrow().close();
    assertTrue(writes.tryLock(), "and afterwards it may write");
    lock.readLock().lock();
    assertTrue(writes.tryLock(), "re-entry is no upgrade");
    writes.unlock();
    writes.unlock();
    assertFalse(writes.tryLock(), "again it only reads");
    lock.readLock().unlock();
    await().untilAsserted(() -> assertEquals(List.of(), rig.keys(name)));
  }
}
