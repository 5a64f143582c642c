package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.LONG;
import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Read holds with a minimum, beside other readers, waiting writers, and their own writer. */
@Timeout(60)
@Tag("redis-version")
class ReadMinimumTest {
  private static final Duration MINIMUM = Duration.ofSeconds(1);
  private static final Duration WITH_HEARTBEAT = Duration.ofSeconds(4);

  /** With sharing, as by default. */
  @RegisterExtension
  static final TwoClients clients =
      new TwoClients(
          LockOptions.builder()
              .lease(Duration.ofMinutes(1))
              .tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1)))
              .build());

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private final StepThread writer = locks.thread();

  @FairAndUnfair
  void aReadHoldKeepsWritersOutAndReadersMayEnter(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock();
    DistributedLock readsThere = locks.there(fair).readLock();
    DistributedLock writes = locks.there(fair).writeLock();

    reads.atLeast(LONG).lock();
    reads.unlock();

    assertFalse(writer.ask(writes::tryLock));
    assertTrue(reads.tryLock());
    assertTrue(readsThere.tryLock());
    assertFalse(writer.ask(writes::tryLock));
    reads.unlock();
    readsThere.unlock();
    assertFalse(writer.ask(writes::tryLock), "the others have left");
    assertTrue(reads.forceUnlock());
    assertTrue(writer.ask(writes::tryLock));
    writer.run(writes::unlock);
  }

  /** Nobody notices the end of a minimum, at which the turn of the readers begins. */
  @FairAndUnfair
  void writersWithAMinimumDoNotStarveAReader(boolean fair) throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    List<AsyncCall<Void>> writers = new ArrayList<>();
    for (RedisReadWriteLock lock : List.of(locks.here(fair), locks.there(fair))) {
      DistributedLock writes = lock.writeLock().atLeast(Duration.ofMillis(300));
      writers.add(
          AsyncCall.run(
              () -> {
                while (!done.get()) {
                  writes.lock();
                  writes.unlock();
                }
              }));
    }
    DistributedLock reads = locks.here(fair).readLock();
    try {
      for (int i = 0; i < 3; i++) {
        assertTrue(reads.tryLock(LONG));
        reads.unlock();
      }
    } finally {
      done.set(true);
    }
    AsyncCall.join(writers);
    locks.here(fair).writeLock().forceUnlock(); // what the last minimum keeps
  }

  @FairAndUnfair
  void aWriterThatWaitsEntersAfterTheMinimum(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock().withLease(LONG).atLeast(MINIMUM);
    DistributedLock writes = locks.there(fair).writeLock();
    long start = System.nanoTime();
    reads.lock();
    Future<Boolean> waiting = writer.start(() -> writes.tryLock(LONG));
    locks.awaitWaiters(1);
    writer.awaitBlocked();
    reads.unlock();

    assertTrue(StepThread.result(waiting));

    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(took.compareTo(MINIMUM) >= 0 && took.compareTo(SLACK) < 0, took::toString);
    writer.run(writes::unlock);
  }

  /** In the queue of a fair lock those behind the head learn of the end by their heartbeats. */
  @FairAndUnfair
  void readersThatWaitEnterAfterTheMinimumOfAWriter(boolean fair) throws Exception {
    RedisReadWriteLock here =
        ReadWriteFixture.lock(clients.here(), locks.name, fair, WITH_HEARTBEAT);
    RedisReadWriteLock there =
        ReadWriteFixture.lock(clients.there(), locks.name, fair, WITH_HEARTBEAT);
    DistributedLock writes = here.writeLock().withLease(LONG).atLeast(MINIMUM);
    StepThread second = locks.thread();
    long start = System.nanoTime();
    writes.lock();
    Future<Boolean> waiting = writer.start(() -> there.readLock().tryLock(LONG));
    locks.awaitWaiters(1);
    Future<Boolean> behind = second.start(() -> here.readLock().tryLock(LONG));
    locks.awaitWaiters(2);
    writer.awaitBlocked();
    second.awaitBlocked();
    writes.unlock();

    assertTrue(StepThread.result(waiting));
    assertTrue(StepThread.result(behind));

    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(took.compareTo(MINIMUM) >= 0 && took.compareTo(SLACK) < 0, took::toString);
    writer.run(there.readLock()::unlock);
    second.run(here.readLock()::unlock);
  }

  @Test
  void ofReadersThatShareAHoldTheLongestMinimumCounts() throws Exception {
    DistributedLock reads = locks.here(false).readLock();
    DistributedLock writes = locks.there(false).writeLock();
    try (Lease without = reads.tryAcquire().orElseThrow()) {
      reads.lock();
      reads.atLeast(LONG).lock();
      assertEquals(1, locks.leaseKeys().size(), "they share one hold");
      reads.unlock();
      reads.unlock();
      assertTrue(without.isValid());
      assertFalse(writer.ask(writes::tryLock));
    }

    assertFalse(writer.ask(writes::tryLock));
    assertTrue(reads.forceUnlock());
    assertFalse(reads.isLocked());
  }

  /** Nobody else's minimum is waived with its own, if nobody receives its hold. */
  @FairAndUnfair
  void aReaderWithAMinimumHasAHoldOfItsOwn(boolean fair) throws Exception {
    DistributedLock reads = locks.here(fair).readLock();
    DistributedLock writes = locks.there(fair).writeLock();
    try (Lease without = reads.tryAcquire().orElseThrow();
        Lease with = reads.atLeast(LONG).tryAcquire().orElseThrow()) {
      assertEquals(2, locks.leaseKeys().size());
      assertTrue(without.isValid() && with.isValid());
    }

    assertFalse(writer.ask(writes::tryLock));
    assertTrue(reads.forceUnlock());
    assertFalse(reads.isLocked());
  }

  @FairAndUnfair
  void aWriteHoldStaysAboveItsReader(boolean fair) throws Exception {
    RedisReadWriteLock here = locks.here(fair);
    RedisReadWriteLock there = locks.there(fair);
    here.writeLock().atLeast(LONG).lock();
    here.readLock().lock();
    here.writeLock().unlock();

    assertTrue(here.readLock().isHeldByCurrentThread());
    assertFalse(writer.ask(there.readLock()::tryLock), "the write hold has its minimum");
    assertTrue(there.writeLock().forceUnlock());
    assertTrue(writer.ask(there.readLock()::tryLock));
    writer.run(there.readLock()::unlock);
    here.readLock().unlock();
  }
}
