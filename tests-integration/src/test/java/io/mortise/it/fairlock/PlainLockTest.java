package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A plain and a fair lock of one name, with the default lease and presence: they exclude and wake
 * each other.
 */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class PlainLockTest {
  /** Far less than the lease, at whose end everybody asks again anyway. */
  private static final Duration PROMPT = Duration.ofSeconds(10);

  private static RedisServer server;
  private static LockClient client;
  private static LockClient other;
  private ServedOrder line;
  private RedisFairLock fair;
  private RedisLock plain;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
    other = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    other.close();
    client.close();
    server.close();
  }

  @BeforeEach
  void freshLine() {
    line = new ServedOrder(server);
    fair = new RedisFairLock(client, line.name);
    plain = new RedisLock(other, line.name);
  }

  @AfterEach
  void closeLine() {
    line.close();
  }

  /** A thread that waits for the plain lock, and is heard of. */
  private void waitForPlain() {
    line.start(
        "plain",
        plain,
        () -> {
          plain.lock();
          return true;
        },
        new CountDownLatch(0));
    await().until(() -> listeners() == 1);
  }

  private long listeners() {
    String channel = "redisson_lock__channel:{" + line.name + "}";
    return (Long) ((List<?>) server.command("PUBSUB", "NUMSUB", channel)).get(1);
  }

  @Test
  void theReleaseOfAFairLockWakesAPlainWaiter() {
    fair.lock();
    assertFalse(plain.tryLock());
    waitForPlain();
    fair.unlock();
    line.awaitServed(PROMPT, "plain");
    line.awaitNothingLeft();
  }

  @Test
  void theForcedReleaseOfAFairLockWakesAPlainWaiter() {
    fair.lock();
    waitForPlain();
    assertTrue(fair.forceUnlock());
    line.awaitServed(PROMPT, "plain");
  }

  @Test
  void thoseInTheQueueComeFirstAndTheLastOfThemWakesThePlainWaiter() {
    CountDownLatch until = new CountDownLatch(1);
    fair.lock();
    line.ask("A", fair, () -> fair.tryLock(ServedOrder.PATIENCE), until);
    waitForPlain();
    fair.unlock();
    line.awaitServed("A");
    until.countDown();
    line.awaitServed(PROMPT, "A", "plain");
    line.awaitNothingLeft();
  }

  @Test
  void theReleaseOfAPlainLockIsNoticedByAFairWaiterWithItsNextSign() {
    plain.lock();
    assertFalse(fair.tryLock());
    line.ask("A", fair);
    plain.unlock();
    line.awaitServed(PROMPT, "A");
    line.awaitNothingLeft();
  }
}
