package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.TwoClients.LONG;
import static io.mortise.it.rwlock.TwoClients.SLACK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fair lock is granted in the order of arrival, and neighbouring readers enter together. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class FairOrderTest {
  private static TwoClients rig;

  private final String name = TwoClients.freshName();
  private final RedisReadWriteLock here = rig.here(name, true);
  private final RedisReadWriteLock there = rig.there(name, true);
  private final List<StepThread> hands = new ArrayList<>();

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
    hands.forEach(StepThread::close);
  }

  private StepThread hand() {
    StepThread hand = new StepThread();
    hands.add(hand);
    return hand;
  }

  @Test
  void theOrderOfArrivalHoldsOverTwoProcessesAndNeighbouringReadersEnterTogether()
      throws Exception {
    String arrivals = "rrwrrrwwrwr";
    List<String> entered = new ArrayList<>();
    List<CountDownLatch> mayLeave = new ArrayList<>();
    List<Future<?>> ends = new ArrayList<>();
    here.writeLock().lock();
    for (int i = 0; i < arrivals.length(); i++) {
      RedisReadWriteLock lock = i % 2 == 0 ? here : there;
      DistributedLock side = arrivals.charAt(i) == 'r' ? lock.readLock() : lock.writeLock();
      String who = arrivals.charAt(i) + "" + i;
      CountDownLatch leave = new CountDownLatch(1);
      mayLeave.add(leave);
      ends.add(
          hand()
              .begin(
                  () -> {
                    side.lock();
                    synchronized (entered) {
                      entered.add(who);
                      entered.notifyAll();
                    }
                    assertTrue(leave.await(30, TimeUnit.SECONDS));
                    side.unlock();
                  }));
      rig.awaitWaiters(name, i + 1);
    }
    assertEquals(arrivals.length(), there.queueLength());
    here.writeLock().unlock();
    int from = 0;
    for (int together : List.of(2, 1, 3, 1, 1, 1, 1, 1)) {
      List<String> group;
      synchronized (entered) {
        while (entered.size() < from + together) {
          entered.wait(SLACK.toMillis());
        }
        group = entered.stream().skip(from).sorted().toList();
      }
      List<String> expected = new ArrayList<>();
      for (int i = from; i < from + together; i++) {
        expected.add(arrivals.charAt(i) + "" + i);
      }
      assertEquals(expected.stream().sorted().toList(), group);
      for (int i = from; i < from + together; i++) {
        mayLeave.get(i).countDown();
      }
      from += together;
    }
    for (Future<?> end : ends) {
      StepThread.result(end);
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @Test
  void aHundredReadersInTheQueueEnterTogether() throws Exception {
    Lease first = here.writeLock().tryAcquire().orElseThrow();
    List<CompletableFuture<Optional<Lease>>> readers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      DistributedLock reads = (i % 2 == 0 ? here : there).readLock();
      readers.add(reads.acquireAsync(LONG).toCompletableFuture());
    }
    rig.awaitWaiters(name, 100);
    Future<?> writer = hand().begin(() -> there.writeLock().lock());
    rig.awaitWaiters(name, 101);
    long start = System.nanoTime();
    first.close();
    List<Lease> leases = new ArrayList<>();
    for (CompletableFuture<Optional<Lease>> reader : readers) {
      leases.add(StepThread.result(reader).orElseThrow());
    }
    double took = (System.nanoTime() - start) / 1e6;
    System.out.printf("fair: 100 readers of 2 clients are in after %.1f ms%n", took);
    assertTrue(took < SLACK.toMillis());
    assertFalse(writer.isDone());
    leases.forEach(Lease::ensureValid);
    leases.forEach(Lease::close);
    StepThread.result(writer);
    hands.get(0).run(() -> there.writeLock().unlock());
    assertEquals(List.of(), rig.keys(name));
  }

  @Test
  void anAttemptWithoutAWaitNeitherOvertakesNorQueues() throws Exception {
    here.readLock().lock();
    Future<?> writer = hand().begin(() -> there.writeLock().lock());
    rig.awaitWaiters(name, 1);
    assertFalse(hand().ask(() -> here.readLock().tryLock()), "a writer waits");
    assertTrue(there.readLock().tryAcquire().isEmpty());
    assertEquals(1, here.queueLength());
    here.readLock().unlock();
    StepThread.result(writer);
    Future<?> reader = hand().begin(() -> here.readLock().lock());
    rig.awaitWaiters(name, 1);
    assertTrue(here.writeLock().tryAcquire().isEmpty());
    assertEquals(1, here.queueLength());
    hands.get(0).run(() -> there.writeLock().unlock());
    StepThread.result(reader);
    hands.get(2).run(() -> here.readLock().unlock());
    assertEquals(0, here.queueLength());
    assertEquals(List.of(), rig.keys(name));
  }

  @Test
  void whoIsFairAndWhoIsNotExcludeAndWakeEachOther() throws Exception {
    RedisReadWriteLock unfair = rig.there(name, false);
    unfair.readLock().lock();
    Future<?> writer = hand().begin(() -> here.writeLock().lock());
    rig.awaitWaiters(name, 1);
    long start = System.nanoTime();
    unfair.readLock().unlock();
    StepThread.result(writer);
    Future<?> reader = hand().begin(() -> unfair.readLock().lock());
    rig.awaitWaiters(name, 1);
    assertFalse(reader.isDone());
    hands.get(0).run(() -> here.writeLock().unlock());
    StepThread.result(reader);
    Future<?> again = hands.get(0).begin(() -> here.writeLock().lock());
    rig.awaitWaiters(name, 1);
    hands.get(1).run(() -> unfair.readLock().unlock());
    StepThread.result(again);
    hands.get(0).run(() -> here.writeLock().unlock());
    long took = (System.nanoTime() - start) / 1_000_000;
    System.out.printf("fair and unfair: three changes of turn in %d ms%n", took);
    assertTrue(took < SLACK.toMillis());
    assertEquals(List.of(), rig.keys(name));
  }
}
