package io.mortise.it.fairlock;

import static io.mortise.it.fairlock.ScriptedQueue.LEFT;
import static io.mortise.it.fairlock.ScriptedQueue.TIMEOUT;
import static io.mortise.it.fairlock.ScriptedQueue.assertWithin;
import static io.mortise.it.fairlock.ScriptedQueue.holder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.ScriptServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The other fair scripts alone: releases, leaves, heartbeats, and whom they notify. */
@Timeout(30)
@Tag("redis-version")
class FairQueueScriptTest {
  private static final long HELD = 10_000;
  private static final long DAY = 24 * 60 * 60 * 1000L;

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final ScriptedQueue fair = new ScriptedQueue(redis.server());

  private void given(String lock, String queue) {
    if (!lock.equals("free")) {
      fair.heldBy(lock, HELD);
    }
    fair.queued(queue);
    redis.published();
  }

  /**
   * Exactly these were notified, in this order, with the payload of Redisson; {@code plain} means
   * the waiters for a plain lock of that name.
   */
  private void assertNotified(String words) {
    List<String> expected =
        Stream.of(words.split(" ", -1))
            .filter(who -> !who.isEmpty())
            .map(who -> fair.channels + (who.equals("plain") ? "" : ":" + holder(who)) + " 0")
            .toList();
    assertEquals(expected, redis.published());
  }

  // ---- release

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, queue: {3}, notified: {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "me   | ''       | 1 | ''     | plain",
        "me   | A        | 1 | A      | A",
        "me   | A B C    | 1 | A B C  | A",
        "me   | R1 A     | 1 | R1 A   | R1",
        "me   | A! B C   | 1 | B C    | B",
        "me   | A! B?    | 1 | ''     | plain",
        "me   | A? R1! B | 1 | B      | B",
        "me   | (A)      | 1 | ''     | plain",
        "X    | A B      | 0 | A B    | ''",
        "free | A B      | 0 | A B    | ''",
      })
  void aReleaseNotifiesOnlyTheHead(
      String lock, String before, long answer, String after, String notified) {
    given(lock, before);
    List<Long> reply = fair.release("me");
    assertEquals(answer, reply.get(0));
    assertEquals(notified.isEmpty() ? 0 : 1, reply.get(1), "notified subscribers");
    assertNotified(notified);
    assertEquals(after, fair.queue());
    assertEquals(lock.equals("X") ? "X" : "", fair.holders());

    assertEquals(0, fair.release("me").get(0));
    assertNotified("");
    assertEquals(after, fair.queue());
  }

  @Test
  void aLateReleaseReleasesOnlyItsOwnHoldAndReportsForce() {
    given("me", "A");
    assertEquals(1, fair.force());
    assertNotified("A");
    assertEquals(1, fair.acquire("A", TIMEOUT).get(0));
    assertEquals(List.of(2L, 0L), fair.release("me"));
    assertEquals("A", fair.holders());
    assertEquals(List.of(0L, 0L), fair.release("B"));
    assertNotified("");

    assertEquals(1, fair.force());
    assertEquals(List.of(2L, 0L), fair.release("A"));
    assertEquals(List.of(2L, 0L), fair.release("me"), "the mark has both");
  }

  // ---- keep

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, queue: {3}, notified: {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "me   | ''     | 1 | ''     | plain",
        "me   | A B    | 1 | A B    | A",
        "me   | R1 A   | 1 | R1 A   | R1",
        "me   | A! B C | 1 | B C    | B",
        "X    | A B    | 0 | A B    | ''",
        "free | A B    | 0 | A B    | ''",
      })
  void theRestOfAMinimumKeepsTheQueueWaiting(
      String lock, String before, long answer, String after, String notified) {
    given(lock, before);
    assertEquals(answer, fair.keep("me", 5_000).get(0));
    assertNotified(notified);
    assertEquals(after, fair.queue());
    assertEquals(lock.equals("X") ? "X" : answer == 1 ? "me:kept" : "", fair.holders());
    if (answer == 1) {
      ScriptedQueue.assertWithin(5_000, fair.pttl(fair.lock));
      assertEquals(0, fair.acquire("Z", 0).get(0), "a late attempt, or one of another client");
    }

    assertEquals(0, fair.keep("me", 9_000).get(0), "repeated");
    assertEquals(0, fair.release("me").get(0));
    assertEquals(0, fair.leave("me").get(0));
    assertNotified("");
  }

  // ---- force

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, queue: {3}, notified: {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "X    | ''   | 1 | ''  | plain",
        "X    | A B  | 1 | A B | A",
        "X    | A! B | 1 | B   | B",
        "free | A B  | 0 | A B | ''",
      })
  void forceReleasesTheLockAndNotifiesTheHead(
      String lock, String before, long answer, String after, String notified) {
    given(lock, before);
    assertEquals(answer, fair.force());
    assertNotified(notified);
    assertEquals("", fair.holders());
    assertEquals(after, fair.queue());
    assertEquals(answer, redis.server().command("EXISTS", fair.forced));
    assertTrue(fair.pttl(fair.forced) <= HELD && fair.pttl(fair.forced) != -1);
    assertEquals(0, fair.force());
    assertNotified("");
  }

  // ---- leave

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, lock: {3}, queue: {4}, notified: {5}")
  @CsvSource(
      delimiter = '|',
      value = {
        "X    | me      | 1 | X  | ''   | ''",
        "X    | me A    | 1 | X  | A    | ''",
        "X    | A me B  | 1 | X  | A B  | ''",
        "X    | A B me  | 1 | X  | A B  | ''",
        "X    | A       | 0 | X  | A    | ''",
        "X    | me! A   | 1 | X  | A    | ''",
        "X    | me? A   | 0 | X  | A    | ''",
        "X    | A (me)  | 1 | X  | A    | ''",
        "X    | ''      | 0 | X  | ''   | ''",
        "me   | ''      | 1 | '' | ''   | plain",
        "me   | A B     | 1 | '' | A B  | A",
        "me   | A! R1   | 1 | '' | R1   | R1",
        "free | me      | 1 | '' | ''   | plain",
        "free | me A B  | 1 | '' | A B  | A",
        "free | me A! B | 1 | '' | B    | B",
        "free | me R1   | 1 | '' | R1   | R1",
        "free | ''      | 0 | '' | ''   | ''",
      })
  void aLeaveRemovesPlaceOrHoldAndNotifiesTheNextWaiter(
      String lock, String before, long answer, String holds, String after, String notified) {
    given(lock, before);
    assertEquals(answer, fair.leave("me").get(0));
    assertNotified(notified);
    assertEquals(holds, fair.holders());
    assertEquals(after, fair.queue());

    assertEquals(List.of(0L, 0L), fair.leave("me"));
    assertNotified("");
    assertEquals(holds, fair.holders());
    assertEquals(after, fair.queue());
  }

  // ---- heartbeat

  @ParameterizedTest(name = "lock: {0}, queue: {1}, alive: {2} -> {3}, queue: {4}, notified: {5}")
  @CsvSource(
      delimiter = '|',
      value = {
        "X    | me        | me     | 1     | me      | ''",
        "X    | A me B    | me B   | 1 1   | A me B  | ''",
        "X    | A         | me     | 0     | A       | ''",
        "X    | me!       | me     | 1     | me      | ''",
        "X    | A! me B   | me B   | 1 1   | me B    | ''",
        "X    | A         | A me B | 1 0 0 | A       | ''",
        "free | me A      | me     | 2     | me A    | ''",
        "free | me A      | me A   | 2 1   | me A    | ''",
        "free | A me      | me     | 1     | A me    | A",
        "free | A me B C  | me B C | 1 1 1 | A me B C | A",
        "free | R1 me     | me     | 1     | R1 me   | R1",
        "free | A! me     | me     | 2     | me      | ''",
        "free | A! B me   | me     | 1     | B me    | B",
        "free | A? me     | me     | 2     | me      | ''",
        "free | A         | me     | 0     | A       | A",
        "free | ''        | me     | 0     | ''      | ''",
        "X    | me?       | me     | 0     | ''      | ''",
        "X    | A me? B   | me     | 0     | A B     | ''",
        "X    | A (me) B  | me     | 0     | A B     | ''",
        "X    | A me (B)  | me     | 1     | A me    | ''",
      })
  void aHeartbeatKeepsAPlaceAndRemovesADeadHead(
      String lock, String before, String alive, String answers, String after, String notified) {
    given(lock, before);
    List<Long> expected = Arrays.stream(answers.split(" ", -1)).map(Long::valueOf).toList();
    for (int time = 0; time < 2; time++) {
      assertEquals(expected, fair.heartbeat(2 * LEFT, alive.split(" ", -1)));
      assertNotified(notified);
      assertEquals(after, fair.queue());
      for (String who : after.split(" ", -1)) {
        if (!who.isEmpty()) {
          boolean sent = Arrays.asList(alive.split(" ", -1)).contains(who);
          assertWithin(sent ? 2 * LEFT : LEFT, fair.millisLeft(who));
        }
      }
    }
  }

  @Test
  void aBatchOverSeveralLocksNotifiesEachHeadAndABrokenLockAffectsNoOther() {
    ScriptedQueue broken = new ScriptedQueue(redis.server());
    redis.server().command("SET", broken.list, "not a list");
    redis.server().command("SET", broken.deadlines, "not a sorted set");
    ScriptedQueue second = new ScriptedQueue(redis.server());
    second.queued("me B");
    given("free", "A me B");
    List<ScriptedQueue> locks = List.of(broken, fair, second, broken, fair);
    assertEquals(
        List.of(0L, 1L, 2L, 0L, 1L),
        ScriptedQueue.heartbeat(TIMEOUT, locks, List.of("me", "me", "me", "A", "B")));
    assertNotified("A");
  }

  @Test
  void aHeartbeatNeverBringsBackAWaiterThatLeft() {
    fair.heldBy("X", HELD);
    fair.acquire("A", TIMEOUT);
    fair.acquire("me", TIMEOUT);
    fair.leave("me");
    assertEquals(List.of(0L), fair.heartbeat(TIMEOUT, "me"));
    assertEquals("A", fair.queue());
  }

  // ---- beside waiters of Redisson

  @ParameterizedTest(name = "{0}: {1} s more")
  @CsvSource(
      delimiter = '|',
      value = {
        "me            | 0",
        "A me          | 0",
        "me R1         | 0",
        "R1 me         | 300",
        "R1 A me R2    | 300",
        "R1 A R2 B me  | 600",
        "R1 R2 R3 A me | 900",
        "R1! R2 me     | 600",
        "R1? R2 me     | 300",
      })
  void aHeartbeatAddsTheTimeThatWaitersOfRedissonAheadWillTakeOff(String queue, long seconds) {
    given("X", queue);
    fair.keepPlaceFor("me", 10_000_000);
    fair.heartbeat(TIMEOUT, "me");
    assertWithin(TIMEOUT + seconds * 1_000, fair.millisLeft("me"));

    fair.keepPlaceFor("me", seconds > 0 ? TIMEOUT + 1_000 : 1);
    fair.heartbeat(TIMEOUT, "me");
    fair.heartbeat(TIMEOUT, "me");
    long left = (queue.startsWith("R1!") ? seconds - 300 : seconds) * 1_000;
    assertWithin(TIMEOUT + left, fair.millisLeft("me"));
  }

  @Test
  void aWaiterThatJoinsHasThatTimeAtOnce() {
    given("X", "R1");
    fair.acquire("A", TIMEOUT);
    assertWithin(300_000 + TIMEOUT, fair.millisLeft("A"));
    fair.acquire("B", TIMEOUT);
    assertWithin(300_000 + TIMEOUT, fair.millisLeft("B"));
    fair.leave("R1");
    fair.heartbeat(TIMEOUT, "A", "B");
    assertWithin(TIMEOUT, fair.millisLeft("A"));
    assertWithin(TIMEOUT, fair.millisLeft("B"));
  }

  @Test
  void aWaiterThatJoinsBehindAShorterTimeoutHasItsOwnTimeout() {
    given("X", "R1 A");
    fair.keepPlaceFor("A", 300_150);
    fair.acquire("me", 4 * TIMEOUT);
    assertWithin(300_000 + 4 * TIMEOUT, fair.millisLeft("me"));
  }

  @Test
  void aWaiterThatJoinsBehindALongerTimeoutHasItsOwnTimeout() {
    given("X", "A");
    fair.keepPlaceFor("A", 100_000);
    fair.acquire("me", TIMEOUT);
    assertWithin(TIMEOUT, fair.millisLeft("me"));
  }

  /**
   * Before 3.32.0 a queued waiter of Redisson parks until its deadline less its maximum wait, and
   * when that is over it parks for ever.
   */
  @ParameterizedTest(name = "{0}, alive: {1}")
  @CsvSource({"A R1, A", "A B R1, B", "A B R1, A B", "A R1 R2 B, A", "A! B R1, B"})
  void heartbeatsOfOursMoveTheDeadlinesOfRedissonsBehindThem(String queue, String alive) {
    given("X", queue);
    fair.keepPlaceFor("R1", LEFT + 10_000); // tryLock(10 s), say
    for (long timeout : List.of(2 * LEFT, 3 * LEFT)) {
      fair.heartbeat(timeout, alive.split(" ", -1));
      assertWithin(timeout + 11_000, fair.millisLeft("R1")); // it was set a moment after the others
    }
  }

  @Test
  void anAttemptOfAQueuedWaiterMovesThemToo() {
    given("X", "me R1");
    fair.keepPlaceFor("R1", LEFT + 10_000);
    fair.acquire("me", 2 * LEFT);
    assertWithin(2 * LEFT, fair.millisLeft("me"));
    assertWithin(2 * LEFT + 11_000, fair.millisLeft("R1"));
  }

  @ParameterizedTest
  @CsvSource({"R1 A, A", "R1 R2 A, A"})
  void theDeadlinesOfRedissonsAheadAreNotMoved(String queue, String alive) {
    given("X", queue);
    fair.heartbeat(2 * LEFT, alive);
    assertWithin(LEFT, fair.millisLeft("R1"));
  }

  // ---- length and position

  @ParameterizedTest(name = "queue: {0} -> {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "''        | 0 -1",
        "me        | 1 0",
        "A B me    | 3 2",
        "A B       | 2 -1",
        "A! B? me  | 1 0",
        "A (me) B  | 2 -1",
      })
  void lengthAndPosition(String queue, String answer) {
    given("X", queue);
    List<Long> expected = Arrays.stream(answer.split(" ", -1)).map(Long::valueOf).toList();
    assertEquals(expected, fair.lengthAndPosition("me"));
    assertEquals(expected, fair.lengthAndPosition("me"));
    assertEquals(expected.get(0), fair.lengthAndPosition("").get(0));
  }

  /** It reads the queue in windows of a thousand. */
  @ParameterizedTest
  @ValueSource(longs = {999, 1_000, 1_999, 2_000})
  void positionInALongQueue(long ahead) {
    List<String> waiters = new ArrayList<>();
    for (int i = 0; i < ahead; i++) {
      waiters.add("A" + i);
    }
    waiters.addAll(List.of("me", "B"));
    fair.heldBy("X", HELD);
    fair.queuedAtOnce(waiters);

    assertEquals(List.of(ahead + 2, ahead), fair.lengthAndPosition("me"));
    assertEquals(List.of(ahead + 2, -1L), fair.lengthAndPosition("C"));
  }

  // ---- TTLs

  @Test
  void theQueueLivesForADayAfterItsLastHeartbeat() {
    fair.heldBy("X", HELD);
    fair.acquire("A", TIMEOUT);
    assertWithin(DAY, fair.pttl(fair.list));
    assertWithin(DAY, fair.pttl(fair.deadlines));
    for (String key : List.of(fair.list, fair.deadlines)) {
      redis.server().command("PEXPIRE", key, "60000");
    }
    fair.heartbeat(TIMEOUT, "A");
    assertWithin(DAY, fair.pttl(fair.list));
    assertWithin(DAY, fair.pttl(fair.deadlines));
    assertEquals(List.of(), fair.keysWithoutTtl());
  }

  @Test
  void onlyTheTokenStaysWhenNoWaiterIsLeft() {
    fair.acquire("X", TIMEOUT);
    for (String who : List.of("A", "B", "C")) {
      fair.acquire(who, TIMEOUT);
    }
    fair.leave("B");
    fair.release("X");
    assertEquals(1, fair.acquire("A", TIMEOUT).get(0));
    fair.release("A");
    assertEquals(1, fair.acquire("C", TIMEOUT).get(0));
    fair.release("C");
    assertEquals(List.of(fair.token), fair.keys());
    assertTrue(fair.pttl(fair.token) > 0);
  }
}
