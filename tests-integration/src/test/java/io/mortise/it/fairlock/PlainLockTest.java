package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A plain and a fair lock of one name, with default options: they exclude and wake each other. */
@Timeout(60)
@Tag("redis-version")
class PlainLockTest {
  /** Less than the 5 s after which a plain waiter looks by itself, and far less than the lease. */
  private static final Duration PROMPT = Duration.ofSeconds(4);

  /** A fair waiter looks with each heartbeat. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(10);

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension
  final ServedOrder order = new ServedOrder(clients, RedisFairLock.DEFAULT_WAITER_TIMEOUT);

  private final RedisFairLock fair = order.here();
  private final RedisLock plain = new RedisLock(clients.there(), order.name);

  /** Starts a thread that waits for the plain lock, and awaits its subscription. */
  private void waitForPlain() {
    order.start(
        "plain",
        plain,
        () -> {
          plain.lock();
          return true;
        },
        new CountDownLatch(0));
    await().until(() -> SharedRedis.subscribers(order.server(), order.name) == 1);
  }

  @Test
  void theReleaseOfAFairLockWakesAPlainWaiter() {
    fair.lock();
    assertFalse(plain.tryLock());
    waitForPlain();
    fair.unlock();
    order.awaitServed(PROMPT, "plain");
  }

  @Test
  void theForcedReleaseOfAFairLockWakesAPlainWaiter() {
    fair.lock();
    waitForPlain();
    assertTrue(fair.forceUnlock());
    order.awaitServed(PROMPT, "plain");
    order.removeForcedMark();
  }

  @Test
  void queuedWaitersAreServedFirstAndTheLastOfThemWakesThePlainWaiter() {
    CountDownLatch until = new CountDownLatch(1);
    fair.lock();
    order.queue("A", fair, () -> fair.tryLock(Eventually.LIVENESS), until);
    waitForPlain();
    fair.unlock();
    order.awaitServed("A");
    until.countDown();
    order.awaitServed(PROMPT, "A", "plain");
  }

  @Test
  void aFairWaiterNoticesTheReleaseOfAPlainLockWithItsNextHeartbeat() {
    plain.lock();
    assertFalse(fair.tryLock());
    order.queue("A", fair);
    plain.unlock();
    order.awaitServed(HEARTBEAT, "A");
  }
}
