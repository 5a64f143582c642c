package io.mortise.it.fairlock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.RedissonPeers;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RLock;

/** A process is killed while it waits in a queue of both kinds. */
@Timeout(60)
@Tag("redis-version")
class RedissonDeathTest {
  private static final Duration WAITER_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration SLACK = Duration.ofSeconds(5);

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  @RegisterExtension final ServedOrder order = new ServedOrder(peers, WAITER_TIMEOUT);

  private final RedisFairLock ours = order.here();
  private final RLock theirs = peers.redisson().getFairLock(order.name);

  /**
   * Redisson sends no heartbeat: its dead waiter keeps its place for the rest of its 300 s and of
   * the lease that was held when it joined, whoever waits behind it.
   */
  @Test
  void aDeadWaiterOfRedissonCostsItsFiveMinutesAndNoWaiterBehindItIsLost() throws Exception {
    try (JavaProcess child = RedissonProcess.start(order)) {
      ours.lock();
      order.queue("dead", child);
      order.queue("M1", order.there());
      order.queue("R2", theirs);
      order.queue("M3", order.here());
      child.kill();
      String dead = order.holders().get(0);
      ours.unlock();
      long left = order.millisLeft(dead);
      System.out.printf("a dead waiter of Redisson's keeps its place for %d ms more%n", left);
      assertTrue(
          left > 290_000 && left <= 300_000 + RedissonPeers.LONG_LEASE.toMillis(), () -> left + "");
      await().during(WAITER_TIMEOUT.multipliedBy(2)).until(() -> order.served().isEmpty());
      assertFalse(ours.tryLock(), "its place is respected");

      order.expire(dead);
      long start = System.nanoTime();
      order.awaitServed("M1", "R2", "M3");
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(took.compareTo(WAITER_TIMEOUT.plus(SLACK)) < 0, took::toString);
    }
  }

  @Test
  void aDeadWaiterOfOursBetweenRedissonsCostsItsTimeout() throws Exception {
    Duration lease = Duration.ofSeconds(3);
    try (LockClient client = peers.client(lease);
        JavaProcess child = FairProcess.start(order, WAITER_TIMEOUT, lease)) {
      RedisFairLock held = order.lock(client);
      held.lock();
      order.queue("R0", theirs);
      order.queue("dead", child);
      String dead = order.holders().get(1);
      order.queue("R2", peers.otherRedisson().getFairLock(order.name));
      order.queue("M3", order.there());
      long oneRedisson = 300_000 + WAITER_TIMEOUT.toMillis();
      await().until(() -> order.millisLeft(dead) <= oneRedisson); // it has sent a heartbeat
      child.kill();
      held.unlock();
      long start = System.nanoTime();
      order.awaitServed("R0", "R2", "M3");
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      System.out.printf("a dead waiter of ours between Redisson's cost %d ms%n", took.toMillis());
      assertTrue(took.compareTo(WAITER_TIMEOUT.plus(SLACK)) < 0, took::toString);
    }
  }

  @Test
  void theHeadFollowsADeadHolderOfEitherKindWhenItsLeaseExpires() throws Exception {
    Duration lease = Duration.ofSeconds(3);
    try (JavaProcess child = FairProcess.start(order, WAITER_TIMEOUT, lease)) {
      child.send("keep ours");
      child.awaitLine("served ours", Eventually.LIVENESS);
      order.queue("R0", theirs);
      order.queue("M1", ours);
      child.kill();
      order.awaitServed(lease.plus(SLACK), "ours", "R0", "M1");
    }
    // The waiter that was served releases a moment later; this hold is not renewed. The others join
    // before it ends.
    Duration last = Duration.ofSeconds(6);
    await()
        .pollInSameThread()
        .atMost(SLACK)
        .until(() -> theirs.tryLock(0, last.toMillis(), MILLISECONDS));
    order.queue("M2", ours);
    order.queue("R3", peers.otherRedisson().getFairLock(order.name));
    order.awaitServed(last.plus(SLACK), "ours", "R0", "M1", "M2", "R3");
  }

  /** The queue of Redisson 4.7.0 alone, for comparison. */
  @Test
  void redissonAloneKeepsADeadWaiter() throws Exception {
    try (JavaProcess child = RedissonProcess.start(order)) {
      theirs.lock();
      order.queue("dead", child);
      order.queue("R1", peers.otherRedisson().getFairLock(order.name));
      List<String> queue = order.holders();
      child.kill();
      theirs.unlock();
      long left = order.millisLeft(queue.get(0));
      assertTrue(left > 290_000, () -> left + "");
      assertEquals(queue, order.holders());
      await().during(WAITER_TIMEOUT).until(() -> order.served().isEmpty());
      order.expire(queue.get(0));
      assertTrue(
          ours.tryLock(Eventually.LIVENESS),
          "an attempt of ours removes the head whose deadline is over");
      ours.unlock();
      order.awaitServed("R1");
    }
  }
}
