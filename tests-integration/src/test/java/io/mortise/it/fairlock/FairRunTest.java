package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.BriefWait;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.ScriptLog;
import io.mortise.it.support.TestThreads;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One grant for the threads of a client that are directly behind each other in the queue. The
 * waiter timeout is an hour: a served waiter whose place stays blocks the others for longer than a
 * test runs.
 */
@Timeout(60)
class FairRunTest {
  private static final Duration HOUR = Duration.ofHours(1);

  /** The holder's release, then a grant and a release of each run. */
  private static final int SCRIPTS_OF_A_RUN = 2;

  /** Hand-offs end by number, and not by time, on a busy machine too. */
  private static LockOptions runsOf(int maxHandOffs) {
    return LockOptions.builder()
        .tuning(t -> t.maxHandOffs(maxHandOffs).maxHandOffTime(Duration.ofSeconds(30)))
        .build();
  }

  @RegisterExtension
  @Order(1)
  final TwoClients clients = new TwoClients(runsOf(100));

  @RegisterExtension
  @Order(2)
  final ServedOrder order = new ServedOrder(clients, HOUR);

  @RegisterExtension final TestThreads threads = new TestThreads();

  private final List<Reason> losses = new CopyOnWriteArrayList<>();
  private final List<Long> tokens = Collections.synchronizedList(new ArrayList<>());

  /** Queues a thread that notes its token, and holds the lock until the latch is at zero. */
  private ServedOrder.Waiter queue(String who, RedisFairLock lock, CountDownLatch until) {
    return order.queue(
        who,
        lock,
        () -> {
          lock.lockInterruptibly();
          return tokens.add(lock.lease().fencingToken());
        },
        until);
  }

  private void queue(String who, RedisFairLock lock) {
    queue(who, lock, new CountDownLatch(0));
  }

  /** Queues waiters {@code a0}, {@code b1}...: those with an a are here, those with a b there. */
  private String[] queueAll(String sides) {
    String[] all = new String[sides.length()];
    for (int i = 0; i < all.length; i++) {
      all[i] = sides.charAt(i) + Integer.toString(i);
      queue(all[i], sides.charAt(i) == 'a' ? order.here() : order.there());
    }
    return all;
  }

  /** The server knows the scripts. */
  @BeforeEach
  void loadScripts() {
    order.here().lock();
    order.here().unlock();
  }

  private ScriptLog quietLog() {
    ScriptLog log = new ScriptLog(order.server(), order.name);
    AtomicLong last = new AtomicLong(-1);
    await()
        .pollInSameThread()
        .pollInterval(Duration.ofMillis(50))
        .during(Duration.ofMillis(300))
        .until(() -> last.getAndSet(log.count()) == log.count());
    return new ScriptLog(order.server(), order.name);
  }

  private void assertTokensIncrease() {
    List<Long> sorted = tokens.stream().sorted().distinct().toList();
    assertEquals(sorted, tokens);
  }

  // ---- what a run costs, and its order

  @ParameterizedTest
  @CsvSource({"bbbbbbbbbbbb, 1", "aaa, 1", "babbaabbbab, 7", "abab, 4"})
  void waitersOfOneClientBehindEachOtherCostOneGrantAndOneRelease(String sides, int runs) {
    RedisFairLock lock = order.here();
    lock.lock();
    tokens.add(lock.lease().fencingToken());
    String[] all = queueAll(sides);
    ScriptLog log = quietLog();
    lock.unlock();
    order.awaitServed(all);
    order.awaitNothingLeft();
    assertEquals(1 + SCRIPTS_OF_A_RUN * runs, log.count());
    assertTokensIncrease();
  }

  /** One waiter and the three behind it; the next run has the rest. */
  @Test
  void aRunIsAsLongAsMaxHandOffs() {
    try (LockClient bounded = clients.client(runsOf(3))) {
      RedisFairLock lock = order.here();
      lock.lock();
      String[] all = order.queueAll(6, i -> order.lock(bounded));
      ScriptLog log = quietLog();
      lock.unlock();
      order.awaitServed(all);
      order.awaitNothingLeft();
      assertEquals(1 + SCRIPTS_OF_A_RUN * 2, log.count());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void thereAreNoRunsWithoutHandOffs(boolean byTime) {
    LockOptions noTime = LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ZERO)).build();
    LockOptions none = byTime ? noTime : runsOf(0);
    try (LockClient bounded = clients.client(none)) {
      RedisFairLock lock = order.here();
      lock.lock();
      String[] all = order.queueAll(4, i -> order.lock(bounded));
      ScriptLog log = quietLog();
      lock.unlock();
      order.awaitServed(all);
      order.awaitNothingLeft();
      assertEquals(1 + SCRIPTS_OF_A_RUN * 4, log.count());
    }
  }

  /** The section is longer than the time of hand-offs: Redis has to be asked for the next one. */
  @Test
  void aRunEndsAfterMaxHandOffTime() throws Exception {
    LockOptions brief =
        LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMillis(1))).build();
    try (LockClient bounded = clients.client(brief)) {
      RedisFairLock its = order.lock(bounded);
      CountDownLatch until = new CountDownLatch(1);
      RedisFairLock lock = order.here();
      lock.lock();
      queue("w0", its, until);
      queue("w1", its);
      queue("A", order.here());
      ScriptLog log = quietLog();
      lock.unlock();
      order.awaitServed("w0");
      Eventually.until("it has held for longer", () -> passed(Duration.ofMillis(2)));
      until.countDown();
      order.awaitServed("w0", "w1", "A");
      order.awaitNothingLeft();
      assertEquals(1 + SCRIPTS_OF_A_RUN * 3, log.count());
    }
  }

  private static boolean passed(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
    return true;
  }

  @Test
  void onlyTheQueueIsServedWhileARunGoesOn() {
    CountDownLatch until = new CountDownLatch(1);
    RedisFairLock lock = order.here();
    lock.lock();
    queue("w0", order.there(), until);
    queue("w1", order.there());
    lock.unlock();
    order.awaitServed("w0");
    queue("late", order.there()); // behind the run
    assertFalse(order.there().tryLock());
    assertFalse(order.here().tryLock());
    until.countDown();
    order.awaitServed("w0", "w1", "late");
    assertTokensIncrease();
  }

  /** A hold with another lease is of no use to it, and it keeps its place. */
  @Test
  void aWaiterWithALeaseOfItsOwnAcquiresItFromRedisInItsTurn() throws Exception {
    RedisFairLock lock = order.here();
    RedisFairLock there = order.there();
    lock.lock();
    queue("w0", there);
    AtomicLong ttl = new AtomicLong();
    ServedOrder.Waiter fixed =
        order.queue(
            "fixed",
            there,
            () -> {
              there.withLease(Duration.ofSeconds(5)).lock();
              ttl.set((Long) order.server().command("PTTL", order.name));
              return true;
            });
    queue("w2", there);
    lock.unlock();
    order.awaitServed("w0", "fixed", "w2");
    assertTrue(fixed.acquired());
    assertTrue(ttl.get() > 0 && ttl.get() <= 5_000, () -> "its lease ends in " + ttl + " ms");
  }

  /** The rest of the minimum is not for the run. */
  @Test
  void aHoldWithAMinimumIsNotPassedOnBeforeItsEnd() {
    RedisFairLock lock = order.here();
    RedisFairLock there = order.there();
    lock.lock();
    order.queue("w0", there, () -> lockFor(there, Duration.ofSeconds(1)));
    queue("w1", there);
    lock.unlock();
    order.awaitServed("w0");
    Eventually.until("it is kept", () -> holders().contains(":kept"));
    order.awaitServed("w0", "w1");
  }

  private String holders() {
    return order.server().command("HKEYS", order.name).toString();
  }

  private static boolean lockFor(RedisFairLock lock, Duration minimum) {
    lock.atLeast(minimum).lock();
    return true;
  }

  // ---- a run that ends early

  @Test
  void aWaiterOfTheRunThatLeavesEndsItAndTheNextOneIsServed() throws Exception {
    CountDownLatch until = new CountDownLatch(1);
    RedisFairLock lock = order.here();
    lock.lock();
    queue("w0", order.there());
    queue("w1", order.there(), until);
    ServedOrder.Waiter leaver = queue("leaver", order.there(), new CountDownLatch(0));
    queue("w3", order.there());
    queue("A", order.here());
    lock.unlock();
    order.awaitServed("w0", "w1");
    leaver.interrupt();
    order.awaitLength(3); // w1, which is served, w3, and A
    until.countDown();
    order.awaitServed("w0", "w1", "w3", "A");
    assertTokensIncrease();
  }

  /** Its hold is gone in Redis; the last thread of the run learns of it at the release. */
  @ParameterizedTest
  @CsvSource({"true, 0", "false, 0", "false, 60"})
  void aHoldThatIsLostInTheMiddleLeavesNoPlaces(boolean byForce, int minimumSeconds)
      throws Exception {
    try (LockClient client = clients.client(runsOf(1))) {
      CountDownLatch until = new CountDownLatch(1);
      RedisFairLock lock = order.here();
      RedisFairLock its = order.lock(client);
      Lock losing = minimumSeconds == 0 ? its : its.atLeast(Duration.ofSeconds(minimumSeconds));
      lock.lock();
      queue("w0", its);
      ServedOrder.Waiter loser = order.queue("loser", its, () -> lose("loser", losing, until));
      queue("w2", its);
      queue("A", order.there());
      lock.unlock();
      order.awaitServed("w0", "loser");
      if (byForce) {
        assertTrue(lock.forceUnlock());
      } else {
        order.server().command("DEL", order.name);
      }
      until.countDown();
      assertFalse(loser.acquired());
      assertEquals(byForce ? Reason.FORCED : Reason.MISSING, losses.get(0));
      order.awaitServed("w0", "loser", "w2", "A");
      if (byForce) {
        order.removeForcedMark();
      }
    }
  }

  /** Holds the lock as a waiter that is served; its release finds the hold lost. */
  private boolean lose(String who, Lock lock, CountDownLatch until) throws InterruptedException {
    lock.lock();
    order.server().command("RPUSH", order.served, who);
    until.await();
    LeaseLostException lost = assertThrows(LeaseLostException.class, lock::unlock);
    losses.add(lost.loss().reason());
    return false;
  }

  @Test
  void aForcedReleaseByItsClientEndsTheRun() throws Exception {
    CountDownLatch until = new CountDownLatch(1);
    RedisFairLock lock = order.here();
    RedisFairLock there = order.there();
    lock.lock();
    queue("w0", there);
    ServedOrder.Waiter loser = order.queue("loser", there, () -> lose("loser", there, until));
    queue("w2", there);
    queue("A", order.here());
    lock.unlock();
    order.awaitServed("w0", "loser");
    assertTrue(order.there().forceUnlock());
    order.awaitServed("w0", "loser", "w2", "A"); // while the loser is in its section
    until.countDown();
    assertFalse(loser.acquired());
    order.removeForcedMark();
  }

  @Test
  void aClientThatIsClosedInTheMiddleLeavesNothing() throws Exception {
    CountDownLatch until = new CountDownLatch(1);
    RedisFairLock lock = order.here();
    LockClient closing = clients.client(runsOf(100));
    ServedOrder.Waiter loser;
    ServedOrder.Waiter waiter;
    try {
      RedisFairLock its = order.lock(closing);
      lock.lock();
      queue("w0", its);
      loser = order.queue("loser", its, () -> lose("loser", its, until));
      waiter = order.queue("waiter", its, () -> refused(its));
      queue("A", order.there());
      lock.unlock();
      order.awaitServed("w0", "loser");
    } finally {
      closing.close();
    }
    order.awaitServed("w0", "loser", "A");
    until.countDown();
    assertFalse(loser.acquired());
    assertFalse(waiter.acquired());
  }

  private static boolean refused(RedisFairLock its) {
    assertEquals(
        LockException.Reason.CLIENT_CLOSED, assertThrows(LockException.class, its::lock).reason());
    return false;
  }

  @Test
  void aProcessThatIsKilledInTheMiddleDelaysTheOthersNoLongerThanItsLease() throws Exception {
    Duration timeout = Duration.ofSeconds(3);
    Duration lease = Duration.ofSeconds(3);
    Duration slack = Duration.ofSeconds(8);
    try (JavaProcess child = FairProcess.start(order, timeout, lease)) {
      RedisFairLock lock = order.lock(clients.here(), timeout);
      lock.lock();
      order.queue("w0", child);
      long before = order.length();
      child.send("keep w1");
      order.awaitLength(before + 1);
      order.queue("w2", child);
      queue("A", order.lock(clients.there(), timeout));
      lock.unlock();
      order.awaitServed("w0", "w1");
      child.kill();
      order.awaitServed(lease.plus(timeout).plus(slack), "w0", "w1", "A");
    }
  }

  // ---- default options, but for a lease after which no attempt is pending that had no answer

  /** Waits end while holds are passed on; tokens are noted inside the section. */
  @Test
  void threadsThatLeaveAndComeBackExcludeEachOtherAndLeaveNothing() throws Exception {
    AtomicLong last = new AtomicLong();
    AtomicLong inside = new AtomicLong();
    LockOptions options = LockOptions.builder().lease(Duration.ofSeconds(8)).build();
    try (LockClient one = clients.client(options);
        LockClient two = clients.client(options)) {
      for (int i = 0; i < 6; i++) {
        RedisFairLock lock = order.lock(i < 4 ? one : two);
        int every = i;
        threads.start(
            () -> {
              for (int cycle = 0; cycle < 300; cycle++) {
                Duration brief = Duration.ofNanos(ThreadLocalRandom.current().nextInt(3_000_000));
                if (cycle % 6 == every
                    ? BriefWait.tryLock(lock, brief)
                    : lock.tryLock(Eventually.LIVENESS)) {
                  assertEquals(1, inside.incrementAndGet());
                  long token = lock.lease().fencingToken();
                  assertTrue(last.getAndSet(token) < token);
                  inside.decrementAndGet();
                  lock.unlock();
                }
              }
            });
      }
      threads.join(Duration.ofSeconds(50));
      order.awaitNothingLeft();
      ClientResources.awaitNone(one);
      ClientResources.awaitNone(two);
    }
  }
}
