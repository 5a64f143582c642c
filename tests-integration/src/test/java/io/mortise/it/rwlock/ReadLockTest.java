package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.LONG;
import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
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
import io.mortise.core.LockClient;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.ScriptLog;
import io.mortise.it.support.TwoClients;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How a read lock differs from an exclusive one. */
@Timeout(60)
@Tag("redis-version")
class ReadLockTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration SHORT = Duration.ofMillis(300);
  @RegisterExtension static final TwoClients clients = ReadWriteFixture.clients(LEASE);

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private final StepThread thread = locks.thread();

  @FairAndUnfair
  void readersHoldItTogetherAndAWriterWaitsForTheLast(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock();
    DistributedLock readsThere = locks.there(fair).readLock();
    DistributedLock writes = locks.there(fair).writeLock();
    reads.lock();
    assertTrue(thread.ask(reads::tryLock), "another thread");
    assertTrue(readsThere.tryLock(), "another process");
    try (Lease handle = reads.tryAcquire().orElseThrow()) {
      assertFalse(writes.isLocked());
      assertTrue(writes.remainingLease().isEmpty());
      assertTrue(reads.isLocked());
      handle.ensureValid();
    }
    StepThread writer = locks.thread();
    assertFalse(writer.ask(writes::tryLock));
    Future<?> waiting = writer.begin(writes::lock);
    locks.awaitWaiters(1);
    reads.unlock();
    readsThere.unlock();
    assertFalse(waiting.isDone());
    thread.run(reads::unlock);
    StepThread.result(waiting);
    assertFalse(reads.isLocked());
    assertTrue(writes.isLocked());
    assertFalse(reads.tryLock());
    assertTrue(readsThere.tryAcquire().isEmpty());
    writer.run(writes::unlock);
  }

  @FairAndUnfair
  void reentryIsCountedAndCostsNoRoundTrip(boolean fair) {
    try (LockClient patient = clients.client(LONG)) { // which renews nothing meanwhile
      assertReentryCostsNoRoundTrip(
          ReadWriteFixture.lock(patient, locks.name, fair, locks.waiterTimeout).readLock());
    }
  }

  private void assertReentryCostsNoRoundTrip(DistributedLock reads) {
    reads.lock();
    assertTrue(reads.isLocked()); // so that Redis knows the script of the query
    ScriptLog scripts = new ScriptLog(locks.server(), locks.name);
    for (int i = 2; i <= 50; i++) {
      reads.lock();
      assertEquals(i, reads.holdCount());
    }
    for (int i = 49; i >= 1; i--) {
      reads.unlock();
      assertEquals(i, reads.holdCount());
    }
    assertEquals(0, scripts.count());
    assertTrue(reads.isLocked());
    assertEquals(1, scripts.count(), "a query");
    reads.unlock();
    assertFalse(reads.isLocked());
    assertThrows(IllegalMonitorStateException.class, reads::unlock);
  }

  @FairAndUnfair
  void aReadHasTheTokenOfTheLastWrite(boolean fair) {
    String token = "redisson_lock_token:{" + locks.name + "}";
    RedisReadWriteLock lock = locks.here(fair);
    RedisReadWriteLock there = locks.there(fair);
    long last;
    try (Lease first = lock.readLock().tryAcquire().orElseThrow();
        Lease beside = there.readLock().tryAcquire().orElseThrow()) {
      last = first.fencingToken();
      assertEquals(last, beside.fencingToken(), "no writer yet: the first reader stores its clock");
      assertEquals(Long.toString(last), locks.server().command("GET", token));
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
    locks.server().command("DEL", token);
    try (Lease late = lock.readLock().tryAcquire().orElseThrow()) {
      assertTrue(late.fencingToken() > last, "also when the key of the token was lost");
    }
  }

  @FairAndUnfair
  void eachReaderHasItsOwnLeaseAndItsOwnRenewal(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock();
    Lease brief = reads.withLease(SHORT).tryAcquire().orElseThrow();
    Lease renewed = reads.tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> losses = new LinkedBlockingQueue<>();
    brief.onLost(losses::add);
    assertEquals(Reason.EXPIRED, losses.poll(SLACK.toMillis(), TimeUnit.MILLISECONDS).reason());
    await()
        .during(LEASE.plusSeconds(1))
        .atMost(LEASE.plusSeconds(1).plus(SLACK))
        .until(() -> renewed.isValid() && locks.number("HLEN", locks.name) >= 2);
    assertEquals(1, locks.leaseKeys().size());
    assertThrows(LeaseLostException.class, brief::close);
    renewed.close();
  }

  @FairAndUnfair
  void nestedLeasesLengthenAndNeverShorten(boolean fair) {
    DistributedLock reads = locks.here(fair).readLock();
    Duration longer = Duration.ofSeconds(30);
    reads.withLease(longer).lock();
    reads.withLease(SHORT).lock();
    assertLeft(longer, reads);
    reads.unlock();
    assertLeft(longer, reads);
    reads.withLease(LONG).lock();
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

  @FairAndUnfair
  void forceTakesTheLockFromAllReadersAndEachIsNotified(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    RedisReadWriteLock there = locks.there(fair);
    assertFalse(there.readLock().forceUnlock(), "nobody reads");
    BlockingQueue<LeaseLoss> losses = new LinkedBlockingQueue<>();
    List<Lease> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(lock.readLock().tryAcquire().orElseThrow());
      readers.add(there.readLock().tryAcquire().orElseThrow());
    }
    readers.forEach(reader -> reader.onLost(losses::add));
    thread.run(() -> lock.readLock().withLease(LONG).lock());
    assertFalse(there.writeLock().forceUnlock(), "nobody writes");
    assertTrue(there.readLock().isLocked());

    assertTrue(there.readLock().forceUnlock());
    assertTrue(there.writeLock().tryLock());
    for (int i = 0; i < readers.size(); i++) {
      assertEquals(Reason.FORCED, losses.poll(SLACK.toMillis(), TimeUnit.MILLISECONDS).reason());
    }
    thread.run(
        () -> {
          LeaseLostException lost =
              assertThrows(LeaseLostException.class, () -> lock.readLock().unlock());
          assertEquals(Reason.FORCED, lost.loss().reason());
        });
    readers.forEach(reader -> assertThrows(LeaseLostException.class, reader::close));
    assertTrue(there.writeLock().isHeldByCurrentThread());
    there.writeLock().unlock();
  }

  @FairAndUnfair
  void aWaitThatEndsLeavesNothing(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock();
    DistributedLock writes = locks.there(fair).writeLock();
    writes.lock();
    assertFalse(LateAnswer.tryLock(reads, SHORT));
    assertTrue(LateAnswer.repeat(SHORT, () -> reads.acquire(SHORT)).isEmpty());
    Future<?> interrupted =
        thread.begin(() -> assertThrows(InterruptedException.class, reads::lockInterruptibly));
    locks.awaitWaiters(1);
    thread.interrupt();
    StepThread.result(interrupted);
    CompletionStage<Optional<Lease>> cancelled = reads.acquireAsync(LONG);
    locks.awaitWaiters(1);
    cancelled.toCompletableFuture().cancel(true);
    locks.awaitWaiters(0);
    writes.unlock();
  }

  @FairAndUnfair
  void aWriterThatStopsWaitingDelaysNobody(boolean fair) throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    Future<?> writer =
        thread.begin(
            () ->
                assertThrows(
                    InterruptedException.class,
                    () -> locks.there(fair).writeLock().lockInterruptibly()));
    locks.awaitWaiters(1);
    CompletionStage<Optional<Lease>> waiting = lock.readLock().acquireAsync(LONG);
    locks.awaitWaiters(2);
    long start = System.nanoTime();
    thread.interrupt();
    StepThread.result(writer);
    Lease second = StepThread.result(waiting.toCompletableFuture()).orElseThrow();
    long took = (System.nanoTime() - start) / 1_000_000;
    System.out.printf("fair %s: a reader enters %d ms after the writer gave up%n", fair, took);
    assertTrue(took < SLACK.toMillis());
    second.close();
    reader.close();
  }

  @FairAndUnfair
  void objectsOfOneNameAndClientAreOneLock(boolean fair) {
    RedisReadWriteLock lock = locks.here(fair);
    assertEquals(lock, locks.here(fair));
    assertEquals(lock.hashCode(), locks.here(fair).hashCode());
    assertNotEquals(lock, locks.there(fair));
    assertEquals(lock.readLock(), locks.here(fair).readLock());
    assertNotEquals(lock.readLock(), lock.writeLock());
    assertEquals(fair, lock.isFair());
    assertEquals(locks.name, lock.name());
    assertTrue(lock.toString().contains(locks.name));
    lock.readLock().lock();
    assertTrue(locks.here(fair).readLock().isHeldByCurrentThread());
    locks.here(fair).readLock().unlock();
    for (String wrong : List.of("PT0.199S", "PT1H0.001S")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> ReadWriteFixture.lock(clients.here(), locks.name, fair, Duration.parse(wrong)));
    }
    assertThrows(IllegalArgumentException.class, () -> new RedisReadWriteLock(clients.here(), " "));
  }
}
