package io.mortise.it.fairlock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who asked first is served first, over threads, clients and processes. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
class FairOrderTest {
  private static final Duration PRESENCE = RedisFairLock.DEFAULT_WAITER_TIMEOUT;
  private static final Duration LEASE = Duration.ofSeconds(30);

  private static RedisServer server;
  private static LockClient here;
  private static LockClient there;
  private ServedOrder line;
  private RedisFairLock lock;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    here = LockClient.create(server.uri());
    there = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    here.close();
    there.close();
    server.close();
  }

  @BeforeEach
  void freshLine() {
    line = new ServedOrder(server);
    lock = line.lock(here, PRESENCE);
  }

  @AfterEach
  void closeLine() {
    line.close();
  }

  @Test
  void threadsClientsAndProcessesAreServedInTheOrderOfAsking() throws Exception {
    try (JavaProcess first = FairProcess.start(line, PRESENCE, LEASE);
        JavaProcess second = FairProcess.start(line, PRESENCE, LEASE)) {
      List<String> asked = new ArrayList<>();
      for (int round = 0; round < 2; round++) {
        lock.lock();
        for (int i = 0; i < 6; i++) {
          for (String where : List.of("here", "first", "there", "second", "second")) {
            String who = where + asked.size();
            switch (where) {
              case "here" -> line.ask(who, line.lock(here, PRESENCE));
              case "there" -> line.ask(who, line.lock(there, PRESENCE));
              case "first" -> line.ask(who, first);
              default -> line.ask(who, second);
            }
            asked.add(who);
          }
        }
        assertEquals(30, lock.queueLength());
        lock.unlock();
        line.awaitServed(asked.toArray(String[]::new));
        line.awaitNothingLeft();
      }
    }
  }

  @Test
  void whoComesBackAtOnceStandsBehindThoseWhoWait() throws Exception {
    CountDownLatch again = new CountDownLatch(1);
    lock.lock();
    line.ask("A", line.lock(there, PRESENCE), () -> take(there), again);
    line.ask("B", line.lock(here, PRESENCE), () -> take(here), again);
    lock.unlock();
    line.awaitServed("A"); // and it holds the lock, so that the queue stands still
    line.ask("again", lock);
    again.countDown();
    line.awaitServed("A", "B", "again");
    line.awaitNothingLeft();
  }

  private boolean take(LockClient client) {
    line.lock(client, PRESENCE).lock();
    return true;
  }

  @Test
  void whoDoesNotWaitGetsNothingWhileAnybodyWaits() throws Exception {
    lock.lock();
    line.ask("A", line.lock(there, PRESENCE));
    assertFalse(line.lock(there, PRESENCE).tryLock());
    assertFalse(line.lock(there, PRESENCE).tryLock(0, MILLISECONDS));
    assertTrue(line.lock(there, PRESENCE).tryAcquire().isEmpty());
    assertEquals(1, lock.queueLength(), "none of them joined");
    lock.unlock();
    line.awaitServed("A");
    line.awaitNothingLeft(); // who is served still holds the lock

    // The lock is free, and the head of the queue has not come for it yet.
    String somebody = "00000000-0000-8000-8000-000000000000:1";
    server.command("RPUSH", line.list, somebody);
    server.command("ZADD", line.deadlines, "9000000000000", somebody);
    assertFalse(lock.isLocked());
    assertFalse(lock.tryLock());
    assertTrue(lock.tryAcquire().isEmpty());
    assertFalse(lock.tryLock(Duration.ofMillis(100)));
    assertEquals(1, lock.queueLength(), "who waited has left");
    line.end(somebody);
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void aHolderReentersWithoutRegardForTheQueue() {
    lock.lock();
    line.ask("A", line.lock(there, PRESENCE));
    lock.lock();
    assertTrue(lock.tryLock());
    assertEquals(3, lock.holdCount());
    lock.unlock();
    lock.unlock();
    assertTrue(line.served().isEmpty());
    lock.unlock();
    line.awaitServed("A");
  }

  @Test
  void lengthAndPositionCanBeAsked() throws Exception {
    RedisFairLock other = line.lock(there, PRESENCE);
    assertEquals(0, lock.queueLength());
    assertEquals(OptionalLong.empty(), lock.queuePosition());
    lock.lock();
    assertEquals(OptionalLong.empty(), lock.queuePosition(), "who holds it does not wait");
    line.ask("A", other);
    line.ask("B", other);
    CompletableFuture<Optional<Lease>> mine =
        lock.acquireAsync(ServedOrder.PATIENCE).toCompletableFuture();
    line.awaitLength(3);
    line.ask("D", other);
    await().until(() -> lock.queuePosition().equals(OptionalLong.of(2)));
    assertEquals(OptionalLong.of(0), other.queuePosition(), "that of its first waiter");
    assertEquals(4, other.queueLength());
    lock.unlock();
    mine.get().orElseThrow().close();
    line.awaitServed("A", "B", "D");
    assertEquals(0, lock.queueLength());
    assertEquals(OptionalLong.empty(), other.queuePosition());
  }
}
