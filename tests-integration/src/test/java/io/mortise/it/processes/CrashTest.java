package io.mortise.it.processes;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.processes.LockProcess.Locked;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Other processes are killed, and suspended, while they hold a lock and while they wait for it. */
@Timeout(60)
class CrashTest {
  private static final Duration LONG_LEASE = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(5);

  /** How late a waiter may be on a busy machine. */
  private static final long SLACK_MILLIS = 2_000;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @AutoClose private final LockClient client = redis.client();
  private final DistributedLock lock = new RedisLock(client, Names.fresh());

  @Test
  void theHoldOfAKilledProcessEndsWithItsLeaseAndNotBefore() throws Exception {
    try (JavaProcess child = LockProcess.start(redis.uri(), lock.name(), LEASE)) {
      LockProcess.lock(child);
      long token = LockProcess.awaitLocked(child).token();
      // It has been renewed at least once: the last renewal counts, not the first lease.
      await().during(LEASE.plusSeconds(1)).until(lock::isLocked);
      child.kill();
      long start = System.nanoTime(); // before the question, so that no time is missing
      long leftMillis = redis.ttlMillis(lock.name());
      lock.lock();
      long waited = (System.nanoTime() - start) / 1_000_000;
      assertTrue(lock.lease().fencingToken() > token);
      lock.unlock();
      assertTrue(leftMillis > 0 && leftMillis <= LEASE.toMillis(), () -> leftMillis + " ms left");
      assertTrue(waited >= leftMillis - 2, () -> waited + " ms of " + leftMillis);
      assertTrue(waited <= LEASE.toMillis() + SLACK_MILLIS, () -> waited + " ms");
    }
  }

  @Test
  void aProcessKilledWhileItWaitsDelaysNobody() throws Exception {
    try (JavaProcess dead = LockProcess.start(redis.uri(), lock.name(), LONG_LEASE);
        JavaProcess next = LockProcess.start(redis.uri(), lock.name(), LONG_LEASE)) {
      lock.lock();
      LockProcess.lock(dead);
      LockProcess.lock(next);
      await().until(() -> redis.subscribers(lock.name()) == 2);
      dead.kill();
      long released = System.nanoTime();
      lock.unlock();
      long delay = (LockProcess.awaitLocked(next).nanos() - released) / 1_000_000;
      assertTrue(delay < SLACK_MILLIS, () -> delay + " ms");
      LockProcess.unlock(next);
      assertTrue(lock.tryLock(), "the dead waiter left nothing");
      lock.unlock();
    }
  }

  @Test
  void aProcessSuspendedLongerThanItsLeaseIsNotifiedAndItsTokenIsSmaller() throws Exception {
    try (JavaProcess sleeper = LockProcess.start(redis.uri(), lock.name(), LEASE)) {
      LockProcess.lock(sleeper);
      Locked slept = LockProcess.awaitLocked(sleeper);
      sleeper.pause();
      long start = System.nanoTime();
      lock.lock();
      long waited = (System.nanoTime() - start) / 1_000_000;
      assertTrue(waited <= LEASE.toMillis() + SLACK_MILLIS, () -> waited + " ms");
      Lease ours = lock.lease();
      assertTrue(ours.fencingToken() > slept.token());

      sleeper.resume();
      assertEquals("notified EXPIRED", sleeper.awaitLine("notified", Eventually.LIVENESS));
      sleeper.send("unlock");
      assertEquals("lost EXPIRED", sleeper.awaitLine("lost", Eventually.LIVENESS));

      ours.ensureValid();
      assertTrue(lock.isLocked(), "its late release was not taken for ours");
      lock.unlock();
    }
  }
}
