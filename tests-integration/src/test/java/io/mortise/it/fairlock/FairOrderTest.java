package io.mortise.it.fairlock;

import static io.mortise.it.support.Eventually.until;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Waiters are served in the order of request, over threads, clients and processes. */
@Timeout(60)
class FairOrderTest {
  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension
  final ServedOrder order = new ServedOrder(clients, RedisFairLock.DEFAULT_WAITER_TIMEOUT);

  private final RedisFairLock lock = order.here();

  @Test
  void threadsClientsAndProcessesAreServedInTheOrderOfRequest() throws Exception {
    try (JavaProcess first = FairProcess.start(order);
        JavaProcess second = FairProcess.start(order)) {
      List<String> asked = new ArrayList<>();
      for (int round = 0; round < 2; round++) {
        lock.lock();
        for (int i = 0; i < 6; i++) {
          for (String where : List.of("here", "first", "there", "second", "second")) {
            String who = where + asked.size();
            switch (where) {
              case "here" -> order.queue(who, order.here());
              case "there" -> order.queue(who, order.there());
              case "first" -> order.queue(who, first);
              default -> order.queue(who, second);
            }
            asked.add(who);
          }
        }
        assertEquals(30, lock.queueLength());
        lock.unlock();
        order.awaitServed(asked.toArray(String[]::new));
        order.awaitNothingLeft();
      }
    }
  }

  @Test
  void aThreadThatComesBackAtOnceQueuesBehindTheWaiters() throws Exception {
    CountDownLatch again = new CountDownLatch(1);
    lock.lock();
    order.queue("A", order.there(), () -> acquire(order.there()), again);
    order.queue("B", order.here(), () -> acquire(order.here()), again);
    lock.unlock();
    order.awaitServed("A"); // and it holds the lock, so that nobody else is served
    order.queue("again", lock);
    again.countDown();
    order.awaitServed("A", "B", "again");
  }

  private static boolean acquire(RedisFairLock its) {
    its.lock();
    return true;
  }

  @Test
  void anAttemptWithoutAWaitFailsWhileAnybodyWaits() throws Exception {
    lock.lock();
    order.queue("A", order.there());
    assertFalse(order.there().tryLock());
    assertFalse(order.there().tryLock(0, MILLISECONDS));
    assertTrue(order.there().tryAcquire().isEmpty());
    assertEquals(1, lock.queueLength(), "none of them joined");
    lock.unlock();
    order.awaitServed("A");
    order.awaitNothingLeft(); // the waiter that is served still holds the lock

    // The lock is free, and the head of the queue has not acquired it yet.
    String head = "00000000-0000-8000-8000-000000000000:1";
    order.append(head);
    assertFalse(lock.isLocked());
    assertFalse(lock.tryLock());
    assertTrue(lock.tryAcquire().isEmpty());
    assertFalse(LateAnswer.tryLock(lock, Duration.ofMillis(100)));
    assertEquals(1, lock.queueLength(), "the waiter has left");
    order.expire(head);
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void aHolderReentersWhateverTheQueueIs() {
    lock.lock();
    order.queue("A", order.there());
    lock.lock();
    assertTrue(lock.tryLock());
    assertEquals(3, lock.holdCount());
    lock.unlock();
    lock.unlock();
    assertTrue(order.served().isEmpty());
    lock.unlock();
    order.awaitServed("A");
  }

  @Test
  void queueLengthAndPositionAreReported() throws Exception {
    RedisFairLock other = order.there();
    assertEquals(0, lock.queueLength());
    assertEquals(OptionalLong.empty(), lock.queuePosition());
    lock.lock();
    assertEquals(OptionalLong.empty(), lock.queuePosition(), "a holder does not wait");
    order.queue("A", other);
    order.queue("B", other);
    CompletableFuture<Optional<Lease>> mine =
        lock.acquireAsync(Eventually.LIVENESS).toCompletableFuture();
    order.awaitLength(3);
    order.queue("D", other);
    // A client knows its waiters when it has the replies, later than they are in Redis.
    until("mine is the third", () -> lock.queuePosition().equals(OptionalLong.of(2)));
    until("the first waiter of there", () -> other.queuePosition().equals(OptionalLong.of(0)));
    assertEquals(4, other.queueLength());
    lock.unlock();
    mine.get().orElseThrow().close();
    order.awaitServed("A", "B", "D");
    assertEquals(0, lock.queueLength());
    assertEquals(OptionalLong.empty(), other.queuePosition());
  }

  /** As one that has joined again, or got an id that was made before the other's. */
  @Test
  void thePositionIsThatOfTheFirstInTheQueueAlsoIfItsIdIsTheLaterOne() throws Exception {
    RedisFairLock other = order.there();
    other.lock();
    order.queue("A", lock);
    order.queue("B", lock);
    order.server().command("LMOVE", order.list, order.list, "LEFT", "RIGHT");

    until("the first is the later one", () -> lock.queuePosition().equals(OptionalLong.of(0)));

    other.unlock();
    order.awaitServed("B", "A");
  }
}
