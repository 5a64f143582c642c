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
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Waiters that can leave do so at once, whatever ends their wait. The presence is an hour: who left
 * a place behind would hold up the others for longer than any test runs.
 */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class FairLeavingTest {
  private static final Duration PRESENCE = Duration.ofHours(1);
  private static final Duration SHORT = Duration.ofMillis(150);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final long SECONDS = 20;

  private static RedisServer server;
  private static LockClient client;
  private static LockClient other;
  private ServedOrder line;
  private RedisFairLock lock;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
    other = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    client.close();
    other.close();
    server.close();
  }

  @BeforeEach
  void freshLine() {
    line = new ServedOrder(server);
    lock = line.lock(client, PRESENCE);
  }

  @AfterEach
  void closeLine() {
    line.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aWaitThatIsOverLeavesFromEveryPlace(int place) throws Exception {
    lock.lock();
    List<String> stay = new ArrayList<>();
    ServedOrder.Asked leaver = null;
    RedisFairLock others = line.lock(other, PRESENCE);
    for (int i = 0; i < 3; i++) {
      if (i == place) {
        leaver = line.ask("leaver", others, () -> others.tryLock(SHORT));
      } else {
        stay.add("w" + i);
        line.ask("w" + i, others);
      }
    }
    assertFalse(leaver.taken());
    assertEquals(2, line.length());
    lock.unlock();
    line.awaitServed(stay.toArray(String[]::new));
    line.awaitNothingLeft();
  }

  @Test
  void anInterruptLeavesAtOnce() throws Exception {
    lock.lock();
    RedisFairLock others = line.lock(other, PRESENCE);
    ServedOrder.Asked leaver =
        line.ask(
            "leaver",
            others,
            () -> {
              others.lockInterruptibly();
              return true;
            });
    line.ask("A", others);
    leaver.interrupt();
    line.awaitLength(1);
    lock.unlock();
    line.awaitServed("A");
    line.awaitNothingLeft();
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
        RedisFairLock others = line.lock(i % 2 == 0 ? other : client, PRESENCE);
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
        LockSupport.parkNanos(i * 10_000L); // so that it comes at every stage
        waiter.cancel(true);
        if (i % 5 == 0 && held) {
          lock.unlock();
          held = false;
        }
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .until(() -> line.length() == 0);
        if (held) {
          lock.unlock();
        }
      }
    } finally {
      threads.shutdown();
      assertTrue(threads.awaitTermination(SECONDS, TimeUnit.SECONDS));
    }
    line.awaitNothingLeft();
  }

  @Test
  void aCancelledAsynchronousWaitLeavesAtOnce() {
    lock.lock();
    var waiting = line.lock(other, PRESENCE).acquireAsync(PRESENCE).toCompletableFuture();
    line.awaitLength(1);
    assertTrue(waiting.cancel(true));
    line.awaitLength(0);
    lock.unlock();
    line.awaitNothingLeft();
  }

  @Test
  void aClientThatIsClosedLeavesWithAllItsWaiters() throws Exception {
    List<ServedOrder.Asked> waiters = new ArrayList<>();
    LockClient closing = LockClient.create(server.uri());
    lock.lock();
    try {
      RedisFairLock its = line.lock(closing, PRESENCE);
      for (int i = 0; i < 50; i++) {
        waiters.add(line.ask("closed" + i, its, () -> its.tryLock(PRESENCE)));
      }
      line.ask("A", line.lock(other, PRESENCE));
    } finally {
      closing.close();
    }
    assertEquals(1, line.length(), "nothing is left to be done after close");
    for (ServedOrder.Asked waiter : waiters) {
      try {
        fail("taken: " + waiter.taken());
      } catch (LockException told) {
        assertEquals(LockException.Reason.CLIENT_CLOSED, told.reason());
      }
    }
    lock.unlock();
    await().until(() -> line.served().equals(List.of("A")));
    line.awaitNothingLeft();
  }

  @Test
  void aProcessThatClosesItsClientLeaves() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, LEASE)) {
      lock.lock();
      line.ask("gone", child);
      line.ask("A", line.lock(other, PRESENCE));
      child.send("close");
      child.awaitLine("closed", ServedOrder.PATIENCE);
      assertEquals(1, line.length());
      lock.unlock();
      line.awaitServed("A");
    }
    line.awaitNothingLeft();
  }

  /** The attempt has joined the queue, and its client never heard of it. */
  @ParameterizedTest
  @EnumSource(LossStyle.class)
  void aJoiningAttemptWithoutAnAnswerLeavesNoGhost(LossStyle style) throws Exception {
    LockOptions options =
        LockOptions.builder()
            .commandTimeout(Duration.ofMillis(300))
            .lease(Duration.ofSeconds(1)) // so long what is in doubt is given up again and again
            .build();
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient faulty = LockClient.create(proxy.uri(), options)) {
      RedisFairLock its = line.lock(faulty, PRESENCE);
      its.lock(); // so that it is connected, and the server knows the script
      its.unlock();
      lock.lock();
      proxy.loseReplies(10, style, FaultProxy.containing("EVAL"));
      ServedOrder.Asked waiter =
          line.start("lost", its, () -> its.tryLock(Duration.ofMillis(500)), new CountDownLatch(0));
      await().pollInterval(Duration.ofMillis(2)).until(() -> proxy.repliesLost() > 0);
      line.ask("A", line.lock(other, PRESENCE));
      try {
        assertFalse(waiter.taken());
      } catch (LockException unreachable) {
        assertTrue(unreachable.reason().isTransient(), unreachable::toString);
      }
      proxy.restore();
      line.awaitLength(1);
      lock.unlock();
      await().until(() -> line.served().contains("A"));
      assertEquals(List.of("A"), line.served());
      await().until(() -> faulty.status().pendingReleases() == 0);
    }
    line.awaitNothingLeft();
  }

  /** One that goes on after a lost reply stands in the queue once, where it stood. */
  @Test
  void aLostAnswerCostsNoPlace() throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(300)).build();
    try (FaultProxy proxy = FaultProxy.to(server);
        LockClient faulty = LockClient.create(proxy.uri(), options)) {
      RedisFairLock its = line.lock(faulty, PRESENCE);
      its.lock();
      its.unlock();
      lock.lock();
      proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("EVALSHA"));
      line.ask("first", its);
      line.ask("A", line.lock(other, PRESENCE));
      await().until(() -> proxy.repliesLost() == 1);
      await().until(() -> its.queuePosition().isPresent());
      assertEquals(0, its.queuePosition().getAsLong());
      lock.unlock();
      line.awaitServed("first", "A");
    }
    line.awaitNothingLeft();
  }
}
