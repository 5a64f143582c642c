package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Waiters that can leave do so at once, whatever ends their wait. The waiter timeout is an hour: a
 * place that is left over would delay the others for longer than any test runs.
 */
@Timeout(60)
class FairLeavingTest {
  private static final Duration WAITER_TIMEOUT = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofSeconds(2);
  private static final long SECONDS = 20;

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension final ServedOrder order = new ServedOrder(clients, WAITER_TIMEOUT);

  private final RedisFairLock lock = order.here();

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aWaitThatTimesOutLeavesFromEveryPlace(int place) throws Exception {
    lock.lock();
    List<String> stay = new ArrayList<>();
    ServedOrder.Waiter leaver = null;
    RedisFairLock others = order.there();
    for (int i = 0; i < 3; i++) {
      if (i == place) {
        leaver = order.queue("leaver", others, () -> LateAnswer.tryLock(others, SHORT));
      } else {
        stay.add("w" + i);
        order.queue("w" + i, others);
      }
    }
    assertFalse(leaver.acquired());
    assertEquals(2, order.length());
    lock.unlock();
    order.awaitServed(stay.toArray(String[]::new));
  }

  @Test
  void anInterruptLeavesAtOnce() throws Exception {
    lock.lock();
    RedisFairLock others = order.there();
    ServedOrder.Waiter leaver =
        order.queue(
            "leaver",
            others,
            () -> {
              others.lockInterruptibly();
              return true;
            });
    order.queue("A", others);
    leaver.interrupt();
    order.awaitLength(1);
    lock.unlock();
    order.awaitServed("A");
  }

  @Test
  void aWaitThatIsOverHasNoHeartbeat() throws Exception {
    LockOptions options =
        LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMillis(100))).build();
    try (LockClient client = clients.client(options)) {
      RedisFairLock its = order.lock(client);
      lock.lock();
      ServedOrder.Waiter leaver =
          order.queue(
              "leaver",
              its,
              () -> {
                its.lockInterruptibly();
                return true;
              });
      Eventually.until("it is parked", () -> client.status().waiters() == 1);

      leaver.interrupt();

      ClientResources.awaitNone(client);
      lock.unlock();
    }
  }

  @Test
  void interruptsAtEveryStageLeaveNothing() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      for (int i = 0; i < 300; i++) {
        boolean held = i % 3 != 0;
        if (held) {
          lock.lock();
        }
        RedisFairLock others = i % 2 == 0 ? order.there() : order.here();
        CountDownLatch started = new CountDownLatch(1);
        Future<?> waiter =
            threads.submit(
                () -> {
                  started.countDown();
                  others.lockInterruptibly();
                  others.unlock();
                  return null;
                });
        started.await();
        LockSupport.parkNanos(i * 10_000L); // an interrupt at another stage each time
        waiter.cancel(true);
        if (i % 5 == 0 && held) {
          lock.unlock();
          held = false;
        }
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .until(() -> order.length() == 0);
        if (held) {
          lock.unlock();
        }
      }
    } finally {
      threads.shutdown();
      assertTrue(threads.awaitTermination(SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void aCancelledAsynchronousWaitLeavesAtOnce() {
    lock.lock();
    var waiting = order.there().acquireAsync(WAITER_TIMEOUT).toCompletableFuture();
    order.awaitLength(1);
    assertTrue(waiting.cancel(true));
    order.awaitLength(0);
    lock.unlock();
  }

  @Test
  void aClientThatIsClosedLeavesWithAllItsWaiters() throws Exception {
    List<ServedOrder.Waiter> waiters = new ArrayList<>();
    LockClient closing = clients.client();
    lock.lock();
    try {
      RedisFairLock its = order.lock(closing);
      for (int i = 0; i < 50; i++) {
        waiters.add(order.queue("closed" + i, its, () -> its.tryLock(WAITER_TIMEOUT)));
      }
      order.queue("A", order.there());
    } finally {
      closing.close();
    }
    assertEquals(1, order.length(), "close leaves nothing to be done");
    for (ServedOrder.Waiter waiter : waiters) {
      try {
        fail("acquired: " + waiter.acquired());
      } catch (LockException closed) {
        assertEquals(LockException.Reason.CLIENT_CLOSED, closed.reason());
      }
    }
    lock.unlock();
    await().until(() -> order.served().equals(List.of("A")));
  }

  @Test
  void aProcessThatClosesItsClientLeaves() throws Exception {
    try (JavaProcess child = FairProcess.start(order)) {
      lock.lock();
      order.queue("gone", child);
      order.queue("A", order.there());
      child.send("close");
      child.awaitLine("closed", Eventually.LIVENESS);
      assertEquals(1, order.length());
      lock.unlock();
      order.awaitServed("A");
    }
  }

  /** The attempt has joined the queue, and its client never gets the answer. */
  @ParameterizedTest
  @EnumSource(LossStyle.class)
  void aJoiningAttemptWithoutAnAnswerLeavesNoPlace(LossStyle style) throws Exception {
    // An unanswered attempt is released again and again until its lease would have expired.
    LockOptions options =
        LockOptions.builder()
            .commandTimeout(Duration.ofSeconds(2))
            .lease(Duration.ofSeconds(2))
            .build();
    try (FaultProxy proxy = FaultProxy.to(clients.server());
        LockClient faulty = LockClient.create(proxy.uri(), options)) {
      RedisFairLock its = order.lock(faulty);
      its.lock(); // connects, and loads the script
      its.unlock();
      lock.lock();
      proxy.loseReplies(10, style, FaultProxy.containing("EVAL"));
      ServedOrder.Waiter waiter =
          order.start(
              "lost", its, () -> its.tryLock(Duration.ofMillis(500)), new CountDownLatch(0));
      await().pollInterval(Duration.ofMillis(2)).until(() -> proxy.repliesLost() > 0);
      order.queue("A", order.there());
      try {
        assertFalse(waiter.acquired());
      } catch (LockException unreachable) {
        assertTrue(unreachable.reason().isTransient(), unreachable::toString);
      }
      proxy.restore();
      order.awaitLength(1);
      lock.unlock();
      await().until(() -> order.served().contains("A"));
      assertEquals(List.of("A"), order.served());
      await().until(() -> faulty.status().pendingReleases() == 0);
    }
  }

  /** A waiter that continues after a lost reply is in the queue once, at its old place. */
  @Test
  void aLostReplyCostsNoPlace() throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofSeconds(2)).build();
    try (FaultProxy proxy = FaultProxy.to(clients.server());
        LockClient faulty = LockClient.create(proxy.uri(), options)) {
      RedisFairLock its = order.lock(faulty);
      its.lock();
      its.unlock();
      lock.lock();
      proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("EVALSHA"));
      order.queue("first", its);
      order.queue("A", order.there());
      await().until(() -> proxy.repliesLost() == 1);
      await().until(() -> its.queuePosition().equals(OptionalLong.of(0)));
      lock.unlock();
      order.awaitServed("first", "A");
    }
  }
}
