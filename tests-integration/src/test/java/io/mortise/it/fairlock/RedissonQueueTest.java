package io.mortise.it.fairlock;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Fair locks of Redisson's and ours with one name are one lock with one queue.
 *
 * <p>In a mix, M is a waiter of ours, R one of Redisson's in {@code lock()}, T one of Redisson's in
 * {@code tryLock(60,000 ms)}. Redisson takes what a waiter was ready to wait, 300 s or 60 s, off
 * everybody's deadline when it is served.
 */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class RedissonQueueTest {
  private static final Duration PRESENCE = Duration.ofMillis(1500);

  /** Longer than a lease and a presence: what was left of either at the beginning is used up. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration LONGER = Duration.ofMillis(4500);
  private static final Duration PROMPT = Duration.ofSeconds(5);

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

  /** The waiters of a mix, each named by its kind and number, by two clients of each kind. */
  private String[] ask(String mix) {
    String[] everybody = mix.split(" ", -1);
    for (int i = 0; i < everybody.length; i++) {
      String kind = everybody[i];
      everybody[i] = kind + i;
      LockClient mortise = i % 3 == 0 ? peers.mortise : peers.otherMortise;
      RedissonClient redisson = i % 2 == 0 ? peers.redisson : peers.otherRedisson;
      RLock redissons = redisson.getFairLock(line.name);
      switch (kind) {
        case "M" -> line.ask(everybody[i], line.lock(mortise, PRESENCE));
        case "R" -> line.ask(everybody[i], redissons);
        case "T" ->
            line.ask(everybody[i], redissons, () -> redissons.tryLock(60_000, MILLISECONDS));
        default -> throw new IllegalArgumentException(kind);
      }
    }
    return everybody;
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
  void aMixedQueueIsServedInTheOrderOfAsking(String mix) {
    ours.lock();
    String[] everybody = ask(mix);
    ours.unlock();
    line.awaitServed(everybody);
    line.awaitNothingLeft();

    theirs.lock();
    String[] again = ask(mix);
    assertEquals(again.length, ours.queueLength());
    theirs.unlock();
    String[] both = new String[2 * everybody.length];
    System.arraycopy(everybody, 0, both, 0, everybody.length);
    System.arraycopy(again, 0, both, everybody.length, again.length);
    line.awaitServed(both);
    line.awaitNothingLeft();
  }

  /**
   * When a waiter of Redisson's is served it takes more off the deadlines of those behind it than
   * they have left, unless they have been given that besides their presence.
   */
  @ParameterizedTest
  @ValueSource(strings = {"R M R", "M R M R M R M", "R T M M R", "T R M T M"})
  void whoHasWaitedForLongKeepsItsPlaceWhenRedissonsWaitersAreServed(String mix) {
    try (LockClient holder = RedissonPeers.mortise(peers.server.uri(), LEASE)) {
      RedisFairLock held = line.lock(holder, PRESENCE);
      held.lock();
      String[] everybody = ask(mix);
      await()
          .pollInSameThread()
          .during(LONGER)
          .atMost(LONGER.plus(PROMPT))
          .until(held::isHeldByCurrentThread);
      held.unlock();
      line.awaitServed(everybody);
    }
    line.awaitNothingLeft();
  }

  /** The same after 280 of the 300 s, and with whoever asks only then. */
  @Test
  void alsoAfterMinutes() {
    ours.lock();
    String[] early = ask("R M R M");
    line.age(Duration.ofSeconds(280));
    awaitSigns(1, 3);
    line.ask("late", line.lock(peers.mortise, PRESENCE));
    line.ask("last", theirs);
    ours.unlock();
    line.awaitServed(early[0], early[1], early[2], early[3], "late", "last");
    line.awaitNothingLeft();
  }

  /** One of ours with a long presence joins behind one with a short one, behind Redisson's. */
  @Test
  void whoShowsItselfSeldomKeepsItsPlaceBehindRedissonsWaiters() {
    Duration often = Duration.ofMillis(200);
    Duration seldom = Duration.ofSeconds(10);
    CountDownLatch longer = new CountDownLatch(1);
    ours.lock();
    line.ask("R", theirs);
    RedisFairLock first = line.lock(peers.otherMortise, often);
    ServedOrder.Taking taking = () -> first.tryLock(ServedOrder.PATIENCE);
    line.ask("often 1", first, taking, longer);
    String shown = line.holders().get(1);
    await().until(() -> line.left(shown) <= 300_000 + often.toMillis()); // it has shown itself
    line.ask("seldom", line.lock(peers.mortise, seldom));
    line.ask("often 2", line.lock(peers.otherMortise, often));
    String waits = line.holders().get(2);
    ours.unlock();
    line.awaitServed("R", "often 1");
    assertTrue(line.left(waits) > often.toMillis(), "its place is kept for a life of its own");
    longer.countDown();
    line.awaitServed("R", "often 1", "seldom", "often 2");
    line.awaitNothingLeft();
  }

  /** Of a line that begins with one of theirs, in turn with ours. */
  private static int redissonsBefore(int place) {
    return (place + 1) / 2;
  }

  /** Until those at these places, who are ours, have 300 s for each of theirs and a life again. */
  private void awaitSigns(int... places) {
    for (int place : places) {
      await()
          .pollInterval(Duration.ofMillis(20))
          .until(() -> line.left(line.holders().get(place)) > 300_000L * redissonsBefore(place));
    }
  }

  /** What was given because of Redisson's waiters is taken back when they are gone. */
  @Test
  void whoseTurnIsNextKeepsItsPlaceForItsPresenceOnly() throws Exception {
    CountDownLatch served = new CountDownLatch(1);
    ours.lock();
    line.ask(
        "R",
        theirs,
        () -> {
          theirs.lock();
          return true;
        },
        served);
    line.ask("M", line.lock(peers.otherMortise, PRESENCE));
    String waiter = line.holders().get(1);
    assertTrue(line.left(waiter) > 300_000, "what it will be shortened by");
    ours.unlock();
    await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> line.left(waiter) <= PRESENCE.toMillis());
    assertTrue(line.left(waiter) > 0, "and it waits");
    served.countDown();
    line.awaitServed("R", "M");
    line.awaitNothingLeft();
  }

  // ---- leaving

  @Test
  void whoLeavesFromTheMiddleCostsNobodyItsPlace() throws Exception {
    try (LockClient holder = RedissonPeers.mortise(peers.server.uri(), LEASE)) {
      RedisFairLock held = line.lock(holder, PRESENCE);
      held.lock();
      ServedOrder.Asked first =
          line.ask("T0", theirs, () -> theirs.tryLock(LONGER.toMillis(), MILLISECONDS));
      line.ask("M1", ours);
      RLock other = peers.otherRedisson.getFairLock(line.name);
      ServedOrder.Asked third =
          line.ask("T2", other, () -> other.tryLock(LONGER.toMillis(), MILLISECONDS));
      ServedOrder.Asked fourth = line.ask("M3", ours, () -> ours.tryLock(LONGER));
      line.ask("R4", peers.redisson.getFairLock(line.name));
      line.ask("M5", line.lock(peers.otherMortise, PRESENCE));
      assertFalse(first.taken());
      assertFalse(third.taken());
      assertFalse(fourth.taken());
      line.awaitLength(3);
      held.unlock();
      line.awaitServed("M1", "R4", "M5");
    }
    line.awaitNothingLeft();
  }

  /**
   * Redisson takes the number for milliseconds when it joins (redisson#4743), so such a waiter
   * loses its place after 60 ms, by its own scripts too; when it gives up it takes the whole minute
   * off the others. It is served in the end, and those behind it keep their order.
   */
  @Test
  void redissonsTryLockInSecondsLosesOnlyItsOwnPlace() throws Exception {
    ours.lock();
    ServedOrder.Asked impatient = line.ask("S0", theirs, () -> theirs.tryLock(60, SECONDS));
    line.ask("M1", line.lock(peers.otherMortise, PRESENCE));
    line.ask("R2", peers.otherRedisson.getFairLock(line.name));
    await().during(PRESENCE).until(() -> true);
    ours.unlock();
    await().until(() -> line.served().size() == 3);
    assertEquals(
        List.of("M1", "R2"), line.served().stream().filter(x -> x.charAt(0) != 'S').toList());
    assertTrue(impatient.taken());
    line.awaitNothingLeft();
  }

  // ---- exclusion, and the queue as such

  @Test
  void oneExcludesTheOtherAndNobodyOvertakesTheQueue() throws Exception {
    ours.lock();
    assertFalse(theirs.tryLock());
    assertFalse(theirs.tryLock(50, MILLISECONDS));
    assertTrue(theirs.isLocked());
    ours.unlock();
    assertTrue(theirs.tryLock());
    RedisFairLock other = line.lock(peers.otherMortise, PRESENCE);
    assertFalse(other.tryLock());
    assertFalse(other.tryLock(Duration.ofMillis(50)));
    assertTrue(other.isLocked());
    theirs.unlock();
    line.awaitNothingLeft();

    // The lock is free, and somebody stands in the queue who has not come for it yet.
    peers.server.command("RPUSH", line.list, "11111111-1111-4111-8111-111111111111:1");
    peers.server.command(
        "ZADD", line.deadlines, "9000000000000", "11111111-1111-4111-8111-111111111111:1");
    assertFalse(ours.tryLock());
    assertFalse(theirs.tryLock());
    assertEquals(1, ours.queueLength());
    peers.server.command("DEL", line.list, line.deadlines);
  }

  @Test
  void aReleaseWakesTheOtherKindLongBeforeTheLeaseEnds() {
    for (int round = 0; round < 5; round++) {
      ours.lock();
      line.ask("R" + round, theirs);
      long start = System.nanoTime();
      ours.unlock();
      theirs.lock(); // behind the one that waits

      line.ask("M" + round, line.lock(peers.otherMortise, PRESENCE));
      theirs.unlock();
      int both = 2 * round + 2;
      await().pollInterval(Duration.ofMillis(2)).until(() -> line.served().size() == both);
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertTrue(took.compareTo(PROMPT) < 0, took::toString);
    }
  }

  /** Redisson leaves such an entry alone, and everybody behind it waits for ever. */
  @Test
  void anEntryWithoutADeadlineHoldsUpNobody() {
    theirs.lock();
    peers.server.command("RPUSH", line.list, "11111111-1111-4111-8111-111111111111:1");
    line.ask("R0", peers.otherRedisson.getFairLock(line.name));
    // It heals as soon as one of ours comes by.
    line.start("M1", ours, () -> ours.tryLock(ServedOrder.PATIENCE), new CountDownLatch(0));
    line.awaitLength(2);
    theirs.unlock();
    line.awaitServed("R0", "M1");
    line.awaitNothingLeft();
  }
}
