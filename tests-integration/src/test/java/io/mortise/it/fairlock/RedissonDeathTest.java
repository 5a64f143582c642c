package io.mortise.it.fairlock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RLock;

/** A process is killed while it stands in a queue of both kinds. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class RedissonDeathTest {
  private static final Duration PRESENCE = Duration.ofSeconds(1);
  private static final Duration SLACK = Duration.ofSeconds(5);

  private static RedissonPeers peers;
  private ServedOrder line;
  private RedisFairLock ours;
  private RLock theirs;

  @BeforeAll
  static void start() {
    peers = new RedissonPeers();
  }

  @AfterAll
  static void stop() {
    peers.close();
  }

  @BeforeEach
  void freshLine() {
    line = new ServedOrder(peers.server);
    ours = line.lock(peers.mortise, PRESENCE);
    theirs = peers.redisson.getFairLock(line.name);
  }

  @AfterEach
  void closeLine() {
    line.close();
  }

  /**
   * Redisson gives no sign of life: its dead waiter keeps its place for the rest of its 300 s and
   * of the lease that was held when it came, whoever waits behind it.
   */
  @Test
  void aDeadWaiterOfRedissonsCostsItsFiveMinutesAndNobodyBehindItIsLost() throws Exception {
    try (JavaProcess child = RedissonProcess.start(line)) {
      ours.lock();
      line.ask("dead", child);
      line.ask("M1", line.lock(peers.otherMortise, PRESENCE));
      line.ask("R2", theirs);
      line.ask("M3", line.lock(peers.mortise, PRESENCE));
      child.kill();
      String dead = line.holders().get(0);
      ours.unlock();
      long left = line.left(dead);
      System.out.printf("a dead waiter of Redisson's keeps its place for %d ms more%n", left);
      assertTrue(
          left > 290_000 && left <= 300_000 + RedissonPeers.LONG_LEASE.toMillis(), () -> left + "");
      await().during(PRESENCE.multipliedBy(2)).until(() -> line.served().isEmpty());
      assertFalse(ours.tryLock(), "its turn is respected");

      line.end(dead);
      long start = System.nanoTime();
      line.awaitServed("M1", "R2", "M3");
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(took.compareTo(PRESENCE.plus(SLACK)) < 0, took::toString);
    }
    line.awaitNothingLeft();
  }

  @Test
  void aDeadWaiterOfOursBetweenRedissonsCostsItsPresence() throws Exception {
    Duration lease = Duration.ofSeconds(2);
    try (LockClient client = RedissonPeers.mortise(peers.server.uri(), lease);
        JavaProcess child = FairProcess.start(line, PRESENCE, lease)) {
      RedisFairLock held = line.lock(client, PRESENCE);
      held.lock();
      line.ask("R0", theirs);
      line.ask("dead", child);
      String dead = line.holders().get(1);
      line.ask("R2", peers.otherRedisson.getFairLock(line.name));
      line.ask("M3", line.lock(peers.otherMortise, PRESENCE));
      long oneRedisson = 300_000 + PRESENCE.toMillis();
      await().until(() -> line.left(dead) <= oneRedisson); // it has given a sign of life
      child.kill();
      held.unlock();
      long start = System.nanoTime();
      line.awaitServed("R0", "R2", "M3");
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      System.out.printf("a dead waiter of ours between Redisson's cost %d ms%n", took.toMillis());
      assertTrue(took.compareTo(PRESENCE.plus(SLACK)) < 0, took::toString);
    }
    line.awaitNothingLeft();
  }

  /**
   * Such a Redisson parks for good when it meets one of ours before it that is alive; it must not.
   */
  @Test
  void aDeadWaiterOfOursBeforeAnOldRedissonsCostsItsPresence() throws Exception {
    try (JavaProcess child = FairProcess.start(line, PRESENCE, RedissonPeers.LONG_LEASE);
        OldRedissonWaiter old = new OldRedissonWaiter(line)) {
      ours.lock();
      line.ask("dead", child);
      FutureTask<Boolean> taken = new FutureTask<>(old);
      new Thread(taken, "old redisson").start();
      line.awaitLength(2);
      await().atMost(SLACK).until(() -> old.asked() >= 3); // ours has been alive for long
      child.kill();
      ours.unlock();
      assertTrue(taken.get(PRESENCE.plus(SLACK).toMillis(), MILLISECONDS));
    }
  }

  @Test
  void aDeadHolderOfEitherKindIsFollowedByTheHeadWhenItsLeaseIsOver() throws Exception {
    Duration lease = Duration.ofSeconds(2);
    try (JavaProcess child = FairProcess.start(line, PRESENCE, lease)) {
      child.send("keep ours");
      child.awaitLine("served ours", ServedOrder.PATIENCE);
      line.ask("R0", theirs);
      line.ask("M1", ours);
      child.kill();
      line.awaitServed(lease.plus(SLACK), "ours", "R0", "M1");
    }
    // Who was served releases a moment later; this hold is renewed by nobody.
    await()
        .pollInSameThread()
        .atMost(SLACK)
        .until(() -> theirs.tryLock(0, lease.toMillis(), MILLISECONDS));
    line.ask("M2", ours);
    line.ask("R3", peers.otherRedisson.getFairLock(line.name));
    line.awaitServed(lease.plus(SLACK), "ours", "R0", "M1", "M2", "R3");
    line.awaitNothingLeft();
  }

  /** Redisson 4.7.0's own queue, so that it is known what is theirs. */
  @Test
  void whatRedissonAloneDoesWithADeadWaiter() throws Exception {
    try (JavaProcess child = RedissonProcess.start(line)) {
      theirs.lock();
      line.ask("dead", child);
      line.ask("R1", peers.otherRedisson.getFairLock(line.name));
      List<String> queue = line.holders();
      child.kill();
      theirs.unlock();
      long left = line.left(queue.get(0));
      assertTrue(left > 290_000, () -> left + "");
      assertEquals(queue, line.holders());
      await().during(PRESENCE).until(() -> line.served().isEmpty());
      line.end(queue.get(0));
      assertTrue(
          ours.tryLock(ServedOrder.PATIENCE), "one of ours finds the head over, and its turn");
      ours.unlock();
      line.awaitServed("R1");
    }
  }
}
