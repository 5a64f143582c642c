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
import io.mortise.core.LeaseLostException;
import io.mortise.it.support.RedissonPeers;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/** A read-write lock of Redisson 4.7.0 and ours on the same name: exclusion and wake-ups. */
@Timeout(60)
@Tag("redis-version")
class RedissonReadWriteTest {
  @RegisterExtension
  static final RedissonPeers peers =
      new RedissonPeers(ReadWriteFixture.withoutSharing(RedissonPeers.LONG_LEASE));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(peers, ReadWriteFixture.SHORT_TIMEOUT);

  private final List<StepThread> theirWaiters = new ArrayList<>();

  private final RReadWriteLock theirs = peers.redisson().getReadWriteLock(locks.name);

  /** Starts that many waiters of Redisson, which release the lock at once. */
  private List<Future<?>> theyWait(RLock lock, int count) {
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      StepThread waiter = locks.thread();
      waiting.add(waiter.begin(lockAndUnlock(lock)));
      waiter.awaitBlocked();
      theirWaiters.add(waiter);
    }
    String channel = "redisson_rwlock:{" + locks.name + "}";
    await()
        .until(
            () ->
                !((List<?>) locks.server().command("PUBSUB", "NUMSUB", channel)).get(1).equals(0L));
    // A thread of theirs subscribes, asks, and parks; it misses a message before it has parked.
    theirWaiters.forEach(waiter -> waiter.awaitParkedIn(Semaphore.class));
    return waiting;
  }

  private static double millisUntilDone(long startNanos, List<Future<?>> all) throws Exception {
    for (Future<?> each : all) {
      StepThread.result(each);
    }
    double took = (System.nanoTime() - startNanos) / 1e6;
    assertTrue(took < SLACK.toMillis(), () -> took + " ms");
    return took;
  }

  @FairAndUnfair
  void readersOfBothReadTogetherAndExcludeTheWritersOfBoth(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    StepThread ourReader = locks.thread();
    StepThread theirReader = locks.thread();
    theirs.readLock().lock();
    assertTrue(ourReader.ask(() -> ours.readLock().tryLock()), "ours beside theirs");
    assertTrue(theirReader.ask(() -> theirs.readLock().tryLock()), "theirs beside ours");
    assertFalse(ours.writeLock().tryLock());
    assertFalse(locks.thread().ask(() -> theirs.writeLock().tryLock()));
    theirs.readLock().unlock();
    assertFalse(locks.thread().ask(() -> ours.writeLock().tryLock()));
    theirReader.run(() -> theirs.readLock().unlock());
    assertFalse(locks.thread().ask(() -> theirs.writeLock().tryLock()), "ours still reads");
    assertFalse(locks.thread().ask(() -> ours.writeLock().tryLock()));
    ourReader.run(() -> ours.readLock().unlock());
  }

  @FairAndUnfair
  void aWriterOfEitherExcludesTheOther(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    theirs.writeLock().lock();
    assertTrue(ours.writeLock().isLocked());
    assertFalse(ours.readLock().tryLock());
    assertFalse(ours.writeLock().tryLock());
    theirs.writeLock().unlock();
    ours.writeLock().lock();
    assertFalse(theirs.readLock().tryLock());
    assertFalse(theirs.writeLock().tryLock());
    ours.writeLock().unlock();
    assertTrue(theirs.writeLock().tryLock());
    theirs.writeLock().unlock();
  }

  @FairAndUnfair
  void ourReadReleaseWakesTheirWriter(boolean fair) throws Exception {
    DistributedLock ours = locks.here(fair).readLock();
    ours.lock();
    assertWakesTheirs("their writer", 1, theirs.writeLock(), ours);
  }

  @FairAndUnfair
  void ourWriteReleaseWakesAllTheirReaders(boolean fair) throws Exception {
    DistributedLock ours = locks.here(fair).writeLock();
    ours.lock();
    assertWakesTheirs("their 5 readers", 5, theirs.readLock(), ours);
  }

  @FairAndUnfair
  void ourDowngradeWakesAllTheirReaders(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    ours.writeLock().lock();
    ours.readLock().lock();
    assertWakesTheirs(
        "their 5 readers after our downgrade", 5, theirs.readLock(), ours.writeLock());
    ours.readLock().unlock();
  }

  private void assertWakesTheirs(String what, int count, RLock waited, Lock released)
      throws Exception {
    List<Future<?>> waiting = theyWait(waited, count);
    long start = System.nanoTime();
    released.unlock();
    System.out.printf("%s: %.1f ms%n", what, millisUntilDone(start, waiting));
  }

  @FairAndUnfair
  void theirReleasesWakeOurWaiters(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    theirs.readLock().lock();
    assertWakesOurs("our writer", 1, ours.writeLock(), theirs.readLock());

    theirs.writeLock().lock();
    assertWakesOurs("our 5 readers", 5, ours.readLock(), theirs.writeLock());

    theirs.writeLock().lock();
    theirs.readLock().lock();
    assertWakesOurs(
        "our 5 readers after their downgrade, which they do not publish",
        5,
        ours.readLock(),
        theirs.writeLock());
    theirs.readLock().unlock();
  }

  private void assertWakesOurs(String what, int count, Lock waited, RLock released)
      throws Exception {
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      waiting.add(locks.thread().begin(lockAndUnlock(waited)));
    }
    locks.awaitWaiters(count);
    long start = System.nanoTime();
    released.unlock();
    System.out.printf("%s: %.1f ms%n", what, millisUntilDone(start, waiting));
  }

  private static StepThread.Step lockAndUnlock(Lock lock) {
    return () -> {
      lock.lock();
      lock.unlock();
    };
  }

  @FairAndUnfair
  void aReentrantReaderOfTheirsHoldsTheLockUntilItsLastUnlock(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    RLock reads = theirs.readLock();
    reads.lock(60, TimeUnit.SECONDS);
    reads.lock(200, TimeUnit.MILLISECONDS);
    reads.lock(60, TimeUnit.SECONDS);
    StepThread ourWriter = locks.thread();
    Future<?> writer = ourWriter.begin(() -> ours.writeLock().lock());
    locks.awaitWaiters(1);
    await().until(() -> locks.leaseKeys().size() == 2);
    assertFalse(locks.thread().ask(() -> ours.writeLock().tryLock()));
    reads.unlock();
    reads.unlock();
    assertFalse(writer.isDone());
    reads.unlock();
    StepThread.result(writer);
    ourWriter.run(() -> ours.writeLock().unlock());
  }

  /**
   * No waiter may enter then. But a waiter of theirs sleeps for the time that it got as an answer,
   * and leaves no trace in Redis.
   */
  @FairAndUnfair
  void theirWriterIsNotifiedThatTheLockWillEndSooner(boolean fair) throws Exception {
    DistributedLock ours = locks.here(fair).readLock();
    Lease dead = ours.withLease(Duration.ofSeconds(2)).tryAcquire().orElseThrow(); // never released
    Lease longer = locks.there(fair).readLock().withLease(LONG).tryAcquire().orElseThrow();
    List<Future<?>> waiting = theyWait(theirs.writeLock(), 1);
    longer.close();
    millisUntilDone(System.nanoTime(), waiting);
    assertEquals(Lease.State.LOST, dead.state());
  }

  @Test
  void aDeadReaderOfTheirsEndsWithItsOwnLease() throws Exception {
    DistributedLock ours = locks.here(false).readLock();
    ours.lock();
    locks.thread().run(() -> theirs.readLock().lock(500, TimeUnit.MILLISECONDS));
    StepThread ourWriter = locks.thread();
    Future<?> writer = ourWriter.begin(() -> locks.there(false).writeLock().lock());
    locks.awaitWaiters(1);
    long start = System.nanoTime();
    ours.unlock();
    millisUntilDone(start, List.of(writer));
    ourWriter.run(() -> locks.there(false).writeLock().unlock());
  }

  @FairAndUnfair
  void aForcedReleaseOfEitherReleasesTheOther(boolean fair) throws Exception {
    RedisReadWriteLock ours = locks.here(fair);
    theirs.readLock().lock();
    theirs.readLock().lock();
    assertFalse(ours.writeLock().forceUnlock());
    assertTrue(ours.readLock().forceUnlock());
    assertThrows(IllegalMonitorStateException.class, () -> theirs.readLock().unlock());
    theirs.writeLock().lock();
    List<Future<?>> waiting = theyWait(theirs.readLock(), 3);
    assertTrue(ours.writeLock().forceUnlock());
    millisUntilDone(System.nanoTime(), waiting);
    assertThrows(IllegalMonitorStateException.class, () -> theirs.writeLock().unlock());

    ours.readLock().lock();
    assertTrue(theirs.readLock().forceUnlock());
    assertThrows(LeaseLostException.class, () -> ours.readLock().unlock());
    ours.writeLock().withLease(LONG).lock();
    assertTrue(theirs.writeLock().forceUnlock());
    assertThrows(LeaseLostException.class, () -> ours.writeLock().unlock());
    assertEquals(locks.leaseKeys(), locks.keys(), "their force leaves the readers' lease keys");
    for (String left : locks.leaseKeys()) {
      assertTrue(left.endsWith(":rwlock_timeout:1"), left);
      assertTrue(locks.millisLeft(left) > 0, left);
      locks.server().command("DEL", left);
    }
  }

  /** The set of our readers stays when they delete the hash, and so do the lease keys. */
  @FairAndUnfair
  void readersOfAHashThatTheyHaveDeletedKeepNobodyOutAndLetNobodyIn(boolean fair) {
    RedisReadWriteLock ours = locks.here(fair);
    List<Lease> lost = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      lost.add(ours.readLock().withLease(LONG).tryAcquire().orElseThrow());
    }
    assertTrue(theirs.readLock().forceUnlock());
    List<String> leaseKeys = locks.leaseKeys();
    assertEquals(2, leaseKeys.size());
    theirs.readLock().lock();
    assertFalse(locks.there(fair).writeLock().tryLock());
    assertEquals(leaseKeys.size() + 2, locks.keys().size(), "the hash, and their lease key");
    lost.forEach(lease -> assertThrows(LeaseLostException.class, lease::close));
    theirs.readLock().unlock();
    assertTrue(ours.writeLock().tryLock());
    ours.writeLock().unlock();
    leaseKeys.forEach(key -> locks.server().command("DEL", key));
  }
}
