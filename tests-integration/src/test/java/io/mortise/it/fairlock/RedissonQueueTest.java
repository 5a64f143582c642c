package io.mortise.it.fairlock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.RedissonPeers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Fair locks of Redisson and ours with one name are one lock with one queue.
 *
 * <p>In a mix, M is a waiter of ours, R one of Redisson's in {@code lock()}, T one of Redisson's in
 * {@code tryLock(60,000 ms)}. Redisson takes the maximum wait of a waiter, 300 s or 60 s, off all
 * deadlines when it is served.
 */
@Timeout(60)
@Tag("redis-version")
class RedissonQueueTest {
  private static final Duration WAITER_TIMEOUT = Duration.ofSeconds(3); // no waiter is as late

  private static final Duration LEASE = Duration.ofSeconds(3);

  /** Longer than a lease and a waiter timeout together. */
  private static final Duration LONGER = Duration.ofSeconds(7);

  /** The others join before that, on a busy machine too. */
  private static final Duration LEAVES_AFTER = Duration.ofSeconds(8);

  private static final Duration PROMPT = RedissonPeers.PROMPT;

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  @RegisterExtension final ServedOrder order = new ServedOrder(peers, WAITER_TIMEOUT);

  private final RedisFairLock ours = order.here();
  private final RLock theirs = peers.redisson().getFairLock(order.name);

  /** The waiters of a mix, each named by its kind and number, by two clients of each kind. */
  private String[] queue(String mix) {
    String[] all = mix.split(" ", -1);
    for (int i = 0; i < all.length; i++) {
      String kind = all[i];
      all[i] = kind + i;
      RedisFairLock its = i % 3 == 0 ? order.here() : order.there();
      RedissonClient redisson = i % 2 == 0 ? peers.redisson() : peers.otherRedisson();
      RLock redissons = redisson.getFairLock(order.name);
      switch (kind) {
        case "M" -> order.queue(all[i], its);
        case "R" -> order.queue(all[i], redissons);
        case "T" -> order.queue(all[i], redissons, () -> redissons.tryLock(60_000, MILLISECONDS));
        default -> throw new IllegalArgumentException(kind);
      }
    }
    return all;
  }

  // ---- order

  @ParameterizedTest
  @ValueSource(
      strings = {
        "R M",
        "M R",
        "R M R M M R",
        "M M R R M R M",
        "R R R M M M",
        "T M R M",
        "R T M T R M",
        "T T M R M T"
      })
  void aMixedQueueIsServedInTheOrderOfRequest(String mix) {
    ours.lock();
    String[] all = queue(mix);
    ours.unlock();
    order.awaitServed(all);
    order.awaitNothingLeft();

    theirs.lock();
    String[] again = queue(mix);
    assertEquals(again.length, ours.queueLength());
    theirs.unlock();
    order.awaitServed(
        Stream.concat(Arrays.stream(all), Arrays.stream(again)).toArray(String[]::new));
  }

  /**
   * When a waiter of Redisson is served, it takes more off the deadlines behind it than they have
   * left, unless they have been extended by that time.
   */
  @ParameterizedTest
  @ValueSource(strings = {"R M R", "M R M R M R M", "R T M M R", "T R M T M"})
  void aLongWaitKeepsItsPlaceWhenWaitersOfRedissonAreServed(String mix) {
    try (LockClient holder = peers.client(LEASE)) {
      RedisFairLock held = order.lock(holder);
      held.lock();
      String[] all = queue(mix);
      await()
          .pollInSameThread()
          .during(LONGER)
          .atMost(LONGER.plus(PROMPT))
          .until(held::isHeldByCurrentThread);
      held.unlock();
      order.awaitServed(all);
    }
  }

  /** The same after 280 of the 300 s, and with waiters that join only then. */
  @Test
  void aWaitOfMinutesKeepsItsPlaceToo() {
    ours.lock();
    String[] early = queue("R M R M");
    order.age(Duration.ofSeconds(280));
    awaitHeartbeats(1, 3);
    order.queue("late", order.here());
    order.queue("last", theirs);
    ours.unlock();
    order.awaitServed(early[0], early[1], early[2], early[3], "late", "last");
  }

  /** A waiter of ours with a long timeout joins behind one with a short one, behind Redisson's. */
  @Test
  void aWaiterWithALongTimeoutKeepsItsPlaceBehindWaitersOfRedisson() {
    Duration briefly = Duration.ofSeconds(2); // no waiter is later, on a busy machine either
    Duration longTime = Duration.ofSeconds(10);
    CountDownLatch longer = new CountDownLatch(1);
    ours.lock();
    order.queue("R", theirs);
    RedisFairLock first = order.lock(peers.there(), briefly);
    ServedOrder.Acquisition acquisition = () -> first.tryLock(Eventually.LIVENESS);
    order.queue("short 1", first, acquisition, longer);
    String renewed = order.holders().get(1);
    await()
        .until(
            () ->
                order.millisLeft(renewed)
                    <= 300_000 + briefly.toMillis()); // it has sent a heartbeat
    order.queue("long", order.lock(peers.here(), longTime));
    order.queue("short 2", order.lock(peers.there(), briefly));
    String waits = order.holders().get(2);
    ours.unlock();
    order.awaitServed("R", "short 1");
    assertTrue(
        order.millisLeft(waits) > briefly.toMillis(), "its place is kept for its own timeout");
    longer.countDown();
    order.awaitServed("R", "short 1", "long", "short 2");
  }

  /** Of a queue of theirs and ours in turn, that begins with one of theirs. */
  private static int redissonsBefore(int place) {
    return (place + 1) / 2;
  }

  /** Waits until our waiters at these places have 300 s for each of theirs, and their timeout. */
  private void awaitHeartbeats(int... places) {
    for (int place : places) {
      await()
          .pollInterval(Duration.ofMillis(20))
          .until(
              () ->
                  order.millisLeft(order.holders().get(place)) > 300_000L * redissonsBefore(place));
    }
  }

  /** The extension because of Redisson's waiters ends when they have left. */
  @Test
  void theNextWaiterKeepsItsPlaceForItsTimeoutOnly() throws Exception {
    CountDownLatch served = new CountDownLatch(1);
    ours.lock();
    order.queue(
        "R",
        theirs,
        () -> {
          theirs.lock();
          return true;
        },
        served);
    order.queue("M", order.there());
    String waiter = order.holders().get(1);
    assertTrue(order.millisLeft(waiter) > 300_000, "the time that Redisson will take off");
    ours.unlock();
    await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> order.millisLeft(waiter) <= WAITER_TIMEOUT.toMillis());
    assertTrue(order.millisLeft(waiter) > 0, "and it still waits");
    served.countDown();
    order.awaitServed("R", "M");
  }

  // ---- leaving

  @Test
  void aWaiterThatLeavesFromTheMiddleCostsNobodyItsPlace() throws Exception {
    try (LockClient holder = peers.client(LEASE)) {
      RedisFairLock held = order.lock(holder);
      held.lock();
      ServedOrder.Waiter first =
          order.queue("T0", theirs, () -> theirs.tryLock(LEAVES_AFTER.toMillis(), MILLISECONDS));
      order.queue("M1", ours);
      RLock other = peers.otherRedisson().getFairLock(order.name);
      ServedOrder.Waiter third =
          order.queue("T2", other, () -> other.tryLock(LEAVES_AFTER.toMillis(), MILLISECONDS));
      ServedOrder.Waiter fourth =
          order.queue("M3", ours, () -> LateAnswer.tryLock(ours, LEAVES_AFTER));
      order.queue("R4", peers.redisson().getFairLock(order.name));
      order.queue("M5", order.there());
      assertFalse(first.acquired());
      assertFalse(third.acquired());
      assertFalse(fourth.acquired());
      order.awaitLength(3);
      held.unlock();
      order.awaitServed("M1", "R4", "M5");
    }
  }

  /**
   * Redisson joins with the number as milliseconds (redisson#4743), so such a waiter loses its
   * place after 60 ms, by its own scripts too; when it gives up, it takes the whole minute off the
   * others. It is served in the end, and the others keep their order.
   */
  @Test
  void redissonsTryLockInSecondsLosesOnlyItsOwnPlace() throws Exception {
    ours.lock();
    ServedOrder.Waiter impatient = order.queue("S0", theirs, () -> theirs.tryLock(60, SECONDS));
    order.queue("M1", order.there());
    order.queue("R2", peers.otherRedisson().getFairLock(order.name));
    await().during(WAITER_TIMEOUT).until(() -> true);
    ours.unlock();
    await().until(() -> order.served().size() == 3);
    assertEquals(
        List.of("M1", "R2"), order.served().stream().filter(x -> x.charAt(0) != 'S').toList());
    assertTrue(impatient.acquired());
  }

  // ---- exclusion, and the queue as such

  @Test
  void eitherExcludesTheOtherAndNoneBarges() throws Exception {
    ours.lock();
    assertFalse(theirs.tryLock());
    assertFalse(theirs.tryLock(50, MILLISECONDS));
    assertTrue(theirs.isLocked());
    ours.unlock();
    assertTrue(theirs.tryLock());
    RedisFairLock other = order.there();
    assertFalse(other.tryLock());
    assertFalse(LateAnswer.tryLock(other, Duration.ofMillis(50)));
    assertTrue(other.isLocked());
    theirs.unlock();
    order.awaitNothingLeft();

    // The lock is free, and the head of the queue has not acquired it yet.
    order.append("11111111-1111-4111-8111-111111111111:1");
    assertFalse(ours.tryLock());
    assertFalse(theirs.tryLock());
    assertEquals(1, ours.queueLength());
    peers.server().command("DEL", order.list, order.deadlines);
  }

  @Test
  void aReleaseWakesTheOtherKindLongBeforeTheLeaseEnds() {
    for (int round = 0; round < 5; round++) {
      ours.lock();
      order.queue("R" + round, theirs);
      long start = System.nanoTime();
      ours.unlock();
      theirs.lock(); // behind the waiter

      order.queue("M" + round, order.there());
      theirs.unlock();
      int both = 2 * round + 2;
      await().pollInterval(Duration.ofMillis(2)).until(() -> order.served().size() == both);
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(took.compareTo(PROMPT) < 0, took::toString);
    }
  }

  /** Redisson does not remove such an entry, and all waiters behind it wait for ever. */
  @Test
  void anEntryWithoutADeadlineDelaysNobody() {
    theirs.lock();
    peers.server().command("RPUSH", order.list, "11111111-1111-4111-8111-111111111111:1");
    order.queue("R0", peers.otherRedisson().getFairLock(order.name));
    // An attempt of ours repairs the queue.
    order.start("M1", ours, () -> ours.tryLock(Eventually.LIVENESS), new CountDownLatch(0));
    order.awaitLength(2);
    theirs.unlock();
    order.awaitServed("R0", "M1");
  }
}
