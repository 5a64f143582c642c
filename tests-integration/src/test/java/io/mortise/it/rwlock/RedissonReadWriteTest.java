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
import io.mortise.core.LeaseLostException;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** A read-write lock of Redisson 4.7.0 and ours on the same name: exclusion and wake-ups. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class RedissonReadWriteTest {
  private static TwoClients rig;
  private static RedissonClient redisson;

  private final String name = TwoClients.freshName();
  private final RReadWriteLock theirs = redisson.getReadWriteLock(name);
  private final List<StepThread> hands = new ArrayList<>();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.SHORT_PRESENCE);
    redisson = RedissonPeers.connect(rig, Duration.ofSeconds(30));
  }

  @AfterAll
  static void stop() {
    redisson.shutdown();
    rig.close();
  }

  @AfterEach
  void dismiss() {
    hands.forEach(StepThread::close);
  }

  private StepThread hand() {
    StepThread hand = new StepThread();
    hands.add(hand);
    return hand;
  }

  /** So many of them wait, each until it has the lock. */
  private List<Future<?>> theyWait(RLock lock, int count) {
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      StepThread hand = hand();
      waiting.add(
          hand.begin(
              () -> {
                lock.lock();
                lock.unlock();
              }));
      hand.awaitBlocked();
    }
    await()
        .until(
            () ->
                !((List<?>)
                        rig.server.command("PUBSUB", "NUMSUB", "redisson_rwlock:{" + name + "}"))
                    .get(1)
                    .equals(0L));
    // Their threads subscribe first and park then; a message before that is what they miss.
    hands.forEach(StepThread::awaitBlocked);
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

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void readersOfBothReadTogetherAndKeepTheWritersOfBothOut(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
    theirs.readLock().lock();
    assertTrue(hand().ask(() -> ours.readLock().tryLock()), "ours beside theirs");
    assertTrue(hand().ask(() -> theirs.readLock().tryLock()), "theirs beside ours");
    assertFalse(ours.writeLock().tryLock());
    assertFalse(hand().ask(() -> theirs.writeLock().tryLock()));
    theirs.readLock().unlock();
    assertFalse(hand().ask(() -> ours.writeLock().tryLock()));
    hands.get(1).run(() -> theirs.readLock().unlock());
    assertFalse(hand().ask(() -> theirs.writeLock().tryLock()), "ours reads on");
    assertFalse(hand().ask(() -> ours.writeLock().tryLock()));
    hands.get(0).run(() -> ours.readLock().unlock());
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWriterOfEitherKeepsTheOtherOut(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
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
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void ourReadReleaseWakesTheirWriter(boolean fair) throws Exception {
    DistributedLock ours = rig.here(name, fair).readLock();
    ours.lock();
    List<Future<?>> waiting = theyWait(theirs.writeLock(), 1);
    long start = System.nanoTime();
    ours.unlock();
    System.out.printf("their writer: %.1f ms%n", millisUntilDone(start, waiting));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void ourWriteReleaseWakesAllTheirReaders(boolean fair) throws Exception {
    DistributedLock ours = rig.here(name, fair).writeLock();
    ours.lock();
    List<Future<?>> waiting = theyWait(theirs.readLock(), 5);
    long start = System.nanoTime();
    ours.unlock();
    System.out.printf("their 5 readers: %.1f ms%n", millisUntilDone(start, waiting));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void ourDowngradeWakesAllTheirReaders(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
    ours.writeLock().lock();
    ours.readLock().lock();
    List<Future<?>> waiting = theyWait(theirs.readLock(), 5);
    long start = System.nanoTime();
    ours.writeLock().unlock();
    System.out.printf(
        "their 5 readers after our downgrade: %.1f ms%n", millisUntilDone(start, waiting));
    ours.readLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void theirReleasesWakeOurWaiters(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
    theirs.readLock().lock();
    List<Future<?>> waiting = new ArrayList<>();
    waiting.add(weWait(ours.writeLock()));
    rig.awaitWaiters(name, 1);
    long start = System.nanoTime();
    theirs.readLock().unlock();
    System.out.printf("fair %s: our writer: %.1f ms%n", fair, millisUntilDone(start, waiting));

    theirs.writeLock().lock();
    waiting.clear();
    for (int i = 0; i < 5; i++) {
      waiting.add(weWait(ours.readLock()));
    }
    rig.awaitWaiters(name, 5);
    start = System.nanoTime();
    theirs.writeLock().unlock();
    System.out.printf("fair %s: our 5 readers: %.1f ms%n", fair, millisUntilDone(start, waiting));

    theirs.writeLock().lock();
    theirs.readLock().lock();
    waiting.clear();
    for (int i = 0; i < 5; i++) {
      waiting.add(weWait(ours.readLock()));
    }
    rig.awaitWaiters(name, 5);
    start = System.nanoTime();
    theirs.writeLock().unlock();
    System.out.printf(
        "fair %s: our 5 readers after their downgrade, of which they tell nobody: %.1f ms%n",
        fair, millisUntilDone(start, waiting));
    theirs.readLock().unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  private Future<?> weWait(DistributedLock lock) {
    return hand()
        .begin(
            () -> {
              lock.lock();
              lock.unlock();
            });
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void whatOneOfThemReadsThreeTimesIsHeldUntilTheLast(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
    RLock reads = theirs.readLock();
    reads.lock(60, TimeUnit.SECONDS);
    reads.lock(200, TimeUnit.MILLISECONDS);
    reads.lock(60, TimeUnit.SECONDS);
    Future<?> writer = hand().begin(() -> ours.writeLock().lock());
    rig.awaitWaiters(name, 1);
    await().until(() -> ((List<?>) rig.server.command("KEYS", "{" + name + "}:*")).size() == 2);
    assertFalse(hand().ask(() -> ours.writeLock().tryLock()));
    reads.unlock();
    reads.unlock();
    assertFalse(writer.isDone());
    reads.unlock();
    StepThread.result(writer);
    hands.get(0).run(() -> ours.writeLock().unlock());
    assertEquals(List.of(), rig.keys(name));
  }

  /**
   * Nobody is let in then; but they wait for as long as they were told, and show nowhere that they
   * do.
   */
  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void theirWriterIsToldThatTheLockWillEndSooner(boolean fair) throws Exception {
    DistributedLock ours = rig.here(name, fair).readLock();
    Lease dead = ours.tryAcquire(Duration.ofSeconds(2)).orElseThrow(); // it never gives it up
    Lease longer = rig.there(name, fair).readLock().tryAcquire(LONG).orElseThrow();
    List<Future<?>> waiting = theyWait(theirs.writeLock(), 1);
    longer.close();
    millisUntilDone(System.nanoTime(), waiting);
    assertEquals(Lease.State.LOST, dead.state());
  }

  @Test
  void aReaderOfTheirsThatDiedIsGoneWhenItsOwnLeaseIsOver() throws Exception {
    DistributedLock ours = rig.here(name, false).readLock();
    ours.lock();
    hand().run(() -> theirs.readLock().lock(500, TimeUnit.MILLISECONDS));
    Future<?> writer = hand().begin(() -> rig.there(name, false).writeLock().lock());
    rig.awaitWaiters(name, 1);
    long start = System.nanoTime();
    ours.unlock();
    millisUntilDone(start, List.of(writer));
    hands.get(1).run(() -> rig.there(name, false).writeLock().unlock());
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void forceOfEitherHitsTheOther(boolean fair) throws Exception {
    RedisReadWriteLock ours = rig.here(name, fair);
    theirs.readLock().lock();
    theirs.readLock().lock();
    assertFalse(ours.writeLock().forceUnlock());
    assertTrue(ours.readLock().forceUnlock());
    assertThrows(IllegalMonitorStateException.class, () -> theirs.readLock().unlock());
    theirs.writeLock().lock();
    List<Future<?>> waiting = theyWait(redisson.getReadWriteLock(name).readLock(), 3);
    assertTrue(ours.writeLock().forceUnlock());
    millisUntilDone(System.nanoTime(), waiting);
    assertThrows(IllegalMonitorStateException.class, () -> theirs.writeLock().unlock());

    ours.readLock().lock();
    assertTrue(theirs.readLock().forceUnlock());
    assertThrows(LeaseLostException.class, () -> ours.readLock().unlock());
    ours.writeLock().lock(LONG);
    assertTrue(theirs.writeLock().forceUnlock());
    assertThrows(LeaseLostException.class, () -> ours.writeLock().unlock());
    for (String left :
        rig.keys(name)) { // their force leaves the readers' lease keys, ours does not
      assertTrue(left.endsWith(":rwlock_timeout:1"), left);
      assertTrue(rig.millisLeft(left) > 0, left);
    }
  }
}
