package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.LONG;
import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.it.support.ScriptLog;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A writer may read too, and keep the read hold; a reader may not become a writer. */
@Timeout(60)
@Tag("redis-version")
class DowngradeTest {
  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private final StepThread thread = locks.thread();

  @FairAndUnfair
  void waitingReadersAreWokenWhenAWriterDowngrades(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    DistributedLock elsewhere = locks.there(fair).readLock();
    List<Future<Long>> readers = new ArrayList<>();
    List<StepThread> threads = new ArrayList<>();
    lock.writeLock().lock();
    lock.readLock().lock();
    assertEquals(1, lock.readLock().holdCount());
    for (int i = 0; i < 10; i++) {
      DistributedLock reads = i % 2 == 0 ? elsewhere : lock.readLock();
      StepThread each = locks.thread();
      threads.add(each);
      readers.add(
          each.start(
              () -> {
                reads.lock();
                return System.nanoTime();
              }));
    }
    locks.awaitWaiters(10);
    long released = System.nanoTime();
    lock.writeLock().unlock();
    long last = released;
    for (Future<Long> reader : readers) {
      last = Math.max(last, StepThread.result(reader));
    }
    System.out.printf(
        "fair %s: 10 readers enter %.1f ms after the downgrade%n", fair, (last - released) / 1e6);
    assertTrue(last - released < SLACK.toNanos());
    assertTrue(lock.readLock().isHeldByCurrentThread(), "and it still reads");
    assertFalse(thread.ask(() -> lock.writeLock().tryLock()));
    for (int i = 0; i < threads.size(); i++) {
      threads.get(i).run((i % 2 == 0 ? elsewhere : lock.readLock())::unlock);
    }
    assertFalse(thread.ask(() -> lock.writeLock().tryLock()), "one still reads");
    lock.readLock().unlock();
  }

  @FairAndUnfair
  void aWriterReadsWithoutWaitingWhileAnotherWriterWaits(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    lock.writeLock().lock();
    Future<?> writer = thread.begin(() -> locks.there(fair).writeLock().lock());
    locks.awaitWaiters(1);
    assertTrue(lock.readLock().tryLock());
    try (Lease handle = lock.readLock().tryAcquire().orElseThrow()) {
      handle.ensureValid();
      Lease later =
          StepThread.result(lock.readLock().acquireAsync(LONG).toCompletableFuture()).get();
      later.close();
    }
    lock.writeLock().unlock();
    assertFalse(writer.isDone(), "it still reads");
    lock.readLock().unlock();
    StepThread.result(writer);
    thread.run(() -> locks.there(fair).writeLock().unlock());
  }

  @FairAndUnfair
  void noOtherOwnerReadsBelowAWriter(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    lock.writeLock().lock();
    assertFalse(thread.ask(() -> lock.readLock().tryLock()), "another thread");
    lock.writeLock().unlock();
    try (Lease handle = lock.writeLock().tryAcquire().orElseThrow()) {
      handle.ensureValid();
      assertFalse(lock.readLock().tryLock(), "a handle belongs to no thread");
      assertTrue(lock.readLock().tryAcquire().isEmpty());
    }
  }

  @FairAndUnfair
  void writeAndReadHoldEndEachWithItsOwnLease(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Duration brief = Duration.ofSeconds(2); // not over before the thread reads below it
    lock.writeLock().withLease(brief).lock();
    lock.readLock().withLease(LONG).lock();
    assertTrue(lock.writeLock().remainingLease().orElseThrow().compareTo(brief) <= 0);
    // The write lease expires: from then on other owners may read, and none may write.
    Lease other = locks.there(fair).readLock().acquire(SLACK).orElseThrow();
    assertFalse(lock.writeLock().isHeldByCurrentThread());
    assertTrue(lock.readLock().isHeldByCurrentThread());
    LeaseLostException lost =
        assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
    assertEquals(Reason.EXPIRED, lost.loss().reason());
    assertFalse(thread.ask(() -> lock.writeLock().tryLock()));
    other.close();
    lock.readLock().unlock();
  }

  @FairAndUnfair
  void aLongerReadBelowAWriterDoesNotLengthenTheWrite(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Duration brief = Duration.ofSeconds(2); // not over before the thread reads below it
    lock.writeLock().withLease(brief).lock();
    lock.readLock().withLease(LONG).lock();
    lock.readLock().unlock();
    assertTrue(locks.millisLeft(locks.name) <= brief.toMillis());
    assertTrue(
        locks.there(fair).writeLock().tryLock(SLACK), "granted when the write lease expires");
    locks.there(fair).writeLock().unlock();
    assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
  }

  @FairAndUnfair
  void forceOnTheWriteLockLeavesTheReadHoldOfItsThread(boolean fair) {
    RedisReadWriteLock lock = locks.here(fair);
    lock.writeLock().lock();
    lock.readLock().lock();
    assertTrue(locks.there(fair).writeLock().forceUnlock());
    assertTrue(locks.there(fair).readLock().tryLock());
    locks.there(fair).readLock().unlock();
    LeaseLostException lost =
        assertThrows(LeaseLostException.class, () -> lock.writeLock().unlock());
    assertEquals(Reason.FORCED, lost.loss().reason());
    lock.readLock().unlock();
  }

  @FairAndUnfair
  void anUpgradeIsRefusedAtOnceWithTheReasonAndNoCommandIsSent(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    DistributedLock writes = lock.writeLock();
    lock.readLock().lock();
    ScriptLog scripts = new ScriptLog(locks.server(), locks.name);
    for (StepThread.Step step :
        List.<StepThread.Step>of(
            () -> writes.lock(),
            () -> writes.withLease(LONG).lock(),
            () -> writes.lockInterruptibly(),
            () -> writes.withLease(LONG).lockInterruptibly(),
            () -> writes.tryLock(LONG),
            () -> writes.tryLock(LONG, LONG),
            () -> writes.acquire(LONG),
            () -> writes.acquire(LONG, LONG))) {
      var refused = assertThrows(IllegalStateException.class, step::run);
      assertTrue(refused.getMessage().contains(locks.name), refused::getMessage);
      assertTrue(refused.getMessage().contains("holds the read lock"), refused::getMessage);
      assertTrue(refused.getMessage().contains("release it first"), refused::getMessage);
    }
    assertFalse(writes.tryLock());
    assertFalse(writes.tryLock(Duration.ZERO));
    assertTrue(writes.tryAcquire().isEmpty());
    assertTrue(writes.acquire(Duration.ZERO).isEmpty());
    assertEquals(0, scripts.count());
    assertTrue(lock.readLock().isHeldByCurrentThread());

    // No thread waits, so it is no upgrade: the read hold may be released meanwhile.
    CompletionStage<Optional<Lease>> later = writes.acquireAsync(LONG);
    locks.awaitWaiters(1);
    lock.readLock().unlock();
    StepThread.result(later.toCompletableFuture()).orElseThrow().close();
    assertTrue(writes.tryLock(), "without a read hold it may write");
    lock.readLock().lock();
    assertTrue(writes.tryLock(), "re-entry is no upgrade");
    writes.unlock();
    writes.unlock();
    assertFalse(writes.tryLock(), "it only reads again");
    lock.readLock().unlock();
    await().untilAsserted(locks::assertNothingLeft);
  }
}
