package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.LONG;
import static io.mortise.it.rwlock.ReadWriteFixture.SLACK;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A fair lock is granted in the order of arrival, and adjacent readers enter together. */
@Timeout(60)
@Tag("redis-version")
class FairOrderTest {
  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.NO_HEARTBEAT);

  private final RedisReadWriteLock here = locks.here(true);
  private final RedisReadWriteLock there = locks.there(true);

  @Test
  void twoProcessesAreServedInTheOrderOfArrivalAndAdjacentReadersEnterTogether() throws Exception {
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
          locks
              .thread()
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
      locks.awaitWaiters(i + 1);
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
  }

  @Test
  void aHundredReadersInTheQueueEnterTogether() throws Exception {
    Lease first = here.writeLock().tryAcquire().orElseThrow();
    List<CompletableFuture<Optional<Lease>>> readers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      DistributedLock reads = (i % 2 == 0 ? here : there).readLock();
      readers.add(reads.acquireAsync(LONG).toCompletableFuture());
    }
    locks.awaitWaiters(100);
    StepThread writes = locks.thread();
    Future<?> writer = writes.begin(() -> there.writeLock().lock());
    locks.awaitWaiters(101);
    long start = System.nanoTime();
    first.close();
    List<Lease> leases = new ArrayList<>();
    for (CompletableFuture<Optional<Lease>> reader : readers) {
      leases.add(StepThread.result(reader).orElseThrow());
    }
    double took = (System.nanoTime() - start) / 1e6;
    System.out.printf("fair: 100 readers of 2 clients enter within %.1f ms%n", took);
    assertTrue(took < SLACK.toMillis());
    assertFalse(writer.isDone());
    leases.forEach(Lease::ensureValid);
    leases.forEach(Lease::close);
    StepThread.result(writer);
    writes.run(() -> there.writeLock().unlock());
  }

  @Test
  void thePositionIsThatOfTheFirstWaiterOfAClient() throws Exception {
    Lease held = here.writeLock().tryAcquire().orElseThrow();
    assertEquals(OptionalLong.empty(), here.queuePosition(), "a holder does not wait");
    List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
    for (DistributedLock side :
        List.of(there.readLock(), here.writeLock(), here.readLock(), there.writeLock())) {
      waiters.add(side.acquireAsync(LONG).toCompletableFuture());
      locks.awaitWaiters(waiters.size());
    }

    until("the reader is the next", () -> there.queuePosition().equals(OptionalLong.of(0)));
    until("the writer follows", () -> here.queuePosition().equals(OptionalLong.of(1)));

    held.close();
    Lease reader = StepThread.result(waiters.get(0)).orElseThrow();
    until("the writer of there is left", () -> there.queuePosition().equals(OptionalLong.of(2)));
    until("the writer is the next", () -> here.queuePosition().equals(OptionalLong.of(0)));
    reader.close();
    for (CompletableFuture<Optional<Lease>> waiter : waiters.subList(1, 4)) {
      StepThread.result(waiter).orElseThrow().close();
    }
    assertEquals(OptionalLong.empty(), here.queuePosition());
    assertEquals(OptionalLong.empty(), there.queuePosition());
  }

  @Test
  void aLockThatIsNotFairHasNoPosition() throws Exception {
    RedisReadWriteLock unfair = locks.there(false);
    Lease held = here.writeLock().tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        unfair.writeLock().acquireAsync(LONG).toCompletableFuture();
    locks.awaitWaiters(1);
    assertEquals(OptionalLong.empty(), unfair.queuePosition());
    held.close();
    StepThread.result(waiter).orElseThrow().close();
  }

  @Test
  void anAttemptWithoutAWaitNeitherBargesNorJoinsTheQueue() throws Exception {
    StepThread writes = locks.thread();
    StepThread reads = locks.thread();
    here.readLock().lock();
    Future<?> writer = writes.begin(() -> there.writeLock().lock());
    locks.awaitWaiters(1);
    assertFalse(locks.thread().ask(() -> here.readLock().tryLock()), "a writer waits");
    assertTrue(there.readLock().tryAcquire().isEmpty());
    assertEquals(1, here.queueLength());
    here.readLock().unlock();
    StepThread.result(writer);
    Future<?> reader = reads.begin(() -> here.readLock().lock());
    locks.awaitWaiters(1);
    assertTrue(here.writeLock().tryAcquire().isEmpty());
    assertEquals(1, here.queueLength());
    writes.run(() -> there.writeLock().unlock());
    StepThread.result(reader);
    reads.run(() -> here.readLock().unlock());
    assertEquals(0, here.queueLength());
  }

  @Test
  void aFairAndAnUnfairLockExcludeAndWakeEachOther() throws Exception {
    RedisReadWriteLock unfair = locks.there(false);
    StepThread writes = locks.thread();
    StepThread reads = locks.thread();
    unfair.readLock().lock();
    Future<?> writer = writes.begin(() -> here.writeLock().lock());
    locks.awaitWaiters(1);
    long start = System.nanoTime();
    unfair.readLock().unlock();
    StepThread.result(writer);
    Future<?> reader = reads.begin(() -> unfair.readLock().lock());
    locks.awaitWaiters(1);
    assertFalse(reader.isDone());
    writes.run(() -> here.writeLock().unlock());
    StepThread.result(reader);
    Future<?> again = writes.begin(() -> here.writeLock().lock());
    locks.awaitWaiters(1);
    reads.run(() -> unfair.readLock().unlock());
    StepThread.result(again);
    writes.run(() -> here.writeLock().unlock());
    long took = (System.nanoTime() - start) / 1_000_000;
    System.out.printf("fair and unfair: three hand-offs in %d ms%n", took);
    assertTrue(took < SLACK.toMillis());
  }
}
