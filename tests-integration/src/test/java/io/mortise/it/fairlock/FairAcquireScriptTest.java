package io.mortise.it.fairlock;

import static io.mortise.it.fairlock.ScriptedQueue.LEASE;
import static io.mortise.it.fairlock.ScriptedQueue.LEFT;
import static io.mortise.it.fairlock.ScriptedQueue.TIMEOUT;
import static io.mortise.it.fairlock.ScriptedQueue.assertWithin;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.SharedRedis;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** {@code fair/acquire} alone: the grant, the join, and the time of the next attempt. */
@Timeout(30)
@Tag("redis-version")
class FairAcquireScriptTest {
  private static final long HELD = 10_000;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final ScriptedQueue fair = new ScriptedQueue(redis.server());

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, queue: {3}, ask again: {4}")
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        // lock | queue before | answer | queue after | ask again
        "free     | ''          | acquired | ''        | -",
        "free     | me          | acquired | ''        | -",
        "free     | me A        | acquired | A         | -",
        "free     | me R1 A     | acquired | R1 A      | -",
        "free     | A           | queued   | A me      | deadline",
        "free     | R1          | queued   | R1 me     | deadline",
        "free     | A me        | queued   | A me      | deadline",
        "free     | A B me      | queued   | A B me    | never",
        "free     | A!          | acquired | ''        | -",
        "free     | R1!         | acquired | ''        | -",
        "free     | me!         | acquired | ''        | -",
        "free     | A! R1! me B | acquired | B         | -",
        "free     | A! B        | queued   | B me      | deadline",
        "free     | A?          | acquired | ''        | -",
        "free     | R1? R2      | queued   | R2 me     | deadline",
        "free     | A? B! me    | acquired | ''        | -",
        "free     | (A)         | acquired | ''        | -",
        "free     | (me)        | acquired | ''        | -",
        "free     | (A) me      | acquired | ''        | -",
        "held     | ''          | queued   | me        | lease",
        "held     | me          | queued   | me        | lease",
        "held     | A           | queued   | A me      | deadline",
        "held     | A me        | queued   | A me      | deadline",
        "held     | A B         | queued   | A B me    | never",
        "held     | A B me C    | queued   | A B me C  | never",
        "held     | A!          | queued   | me        | lease",
        "held     | A! B? me    | queued   | me        | lease",
        "held     | me!         | queued   | me        | lease",
        "held     | A me?       | queued   | A me      | deadline",
        "held     | A me? B     | queued   | A B me    | never",
        "held     | A (me)      | queued   | A me      | deadline",
        "held     | A (me) B    | queued   | A B me    | never",
        "held     | A (B)       | queued   | A me      | deadline",
        "held     | A B? C      | queued   | A C me    | never",
        "held     | A me A      | queued   | A me      | deadline",
        "for ever | ''          | queued   | me        | never",
        "for ever | A           | queued   | A me      | deadline",
        "mine     | ''          | acquired | ''        | -",
        "mine     | A B         | acquired | A B       | -",
        "mine     | A me B      | acquired | A B       | -",
      })
  void anAttemptThatWaits(String lock, String before, String answer, String after, String again) {
    given(lock, before);
    for (int time = 0; time < 2; time++) { // a repetition changes nothing
      List<Long> reply = fair.acquire("me", TIMEOUT);
      assertEquals(answer.equals("acquired") ? 1 : 2, reply.get(0), reply::toString);
      assertEquals(after, fair.queue());
      if (answer.equals("acquired")) {
        assertHeldByMe(reply.get(1));
      } else {
        assertAskAgain(again, reply.get(1));
      }
      assertTtls(lock);
    }
  }

  @ParameterizedTest(name = "lock: {0}, queue: {1} -> {2}, queue: {3}")
  @CsvSource(
      delimiter = '|',
      value = {
        "free     | ''    | acquired | ''",
        "free     | A     | busy     | A",
        "free     | R1    | busy     | R1",
        "free     | A B   | busy     | A B",
        "free     | A!    | acquired | ''",
        "free     | A?    | acquired | ''",
        "free     | A! B  | busy     | B",
        "free     | (A)   | acquired | ''",
        "held     | ''    | busy     | ''",
        "held     | A     | busy     | A",
        "held     | A! B? | busy     | ''",
        "for ever | ''    | busy     | ''",
        "mine     | A     | acquired | A",
      })
  void anAttemptWithoutAWaitNeitherJoinsNorBarges(
      String lock, String before, String answer, String after) {
    given(lock, before);
    for (int time = 0; time < 2; time++) {
      List<Long> reply = fair.acquire("me", 0);
      assertEquals(answer.equals("acquired") ? 1 : 0, reply.get(0), reply::toString);
      assertEquals(after, fair.queue());
      if (answer.equals("acquired")) {
        assertHeldByMe(reply.get(1));
      } else {
        boolean forEver = lock.equals("for ever");
        assertTrue(reply.get(1) >= (forEver ? -1 : 1), reply::toString);
        assertTrue(reply.get(1) <= (forEver ? -1 : HELD), reply::toString);
        assertEquals(0L, redis.server().command("EXISTS", fair.token), "no token without a hold");
      }
    }
  }

  private void given(String lock, String queue) {
    switch (lock) {
      case "held" -> fair.heldBy("X", HELD);
      case "for ever" -> fair.heldBy("X", 0);
      case "mine" -> fair.heldBy("me", HELD);
      default -> assertEquals("free", lock);
    }
    fair.queued(queue);
  }

  private void assertHeldByMe(long token) {
    assertEquals("me", fair.holders());
    assertEquals(
        List.of("1"), redis.server().command("HVALS", fair.lock), "re-entry is not counted here");
    assertEquals(Long.toString(token), redis.server().command("GET", fair.token));
    assertWithin(LEASE, fair.pttl(fair.lock));
  }

  private static void assertAskAgain(String when, long millis) {
    switch (when) {
      case "never" -> assertEquals(-1, millis);
      case "lease" -> assertWithin(HELD, millis);
      case "deadline" -> assertWithin(LEFT + 1, millis);
      default -> throw new IllegalArgumentException(when);
    }
  }

  private void assertTtls(String lock) {
    List<String> without = fair.keysWithoutTtl();
    if (lock.equals("for ever")) {
      assertEquals(List.of(fair.lock), without);
    } else if (fair.queue().contains("me")) {
      assertEquals(List.of(), without);
    }
  }

  // ---- deadlines

  @Test
  void aPlaceIsKeptForItsTimeoutAndARepetitionNeverShortensIt() {
    fair.heldBy("X", HELD);
    fair.acquire("me", TIMEOUT);
    assertWithin(TIMEOUT, fair.millisLeft("me"));
    fair.acquire("me", 2 * TIMEOUT);
    assertWithin(2 * TIMEOUT, fair.millisLeft("me"));
    fair.acquire("me", TIMEOUT);
    assertWithin(2 * TIMEOUT, fair.millisLeft("me"));
  }

  @Test
  void aWaiterThatJoinsBehindALiveWaiterOfOursDoesNotInheritItsDeadline() {
    fair.heldBy("X", HELD);
    for (String who : List.of("A", "B", "C")) {
      fair.acquire(who, TIMEOUT);
      assertWithin(TIMEOUT, fair.millisLeft(who));
    }
  }

  // ---- other kinds

  @Test
  void aNameThatIsHeldAsAReadWriteLockIsRefused() {
    redis.server().command("HSET", fair.lock, "mode", "read", "reader", "1");
    for (long timeout : List.of(0L, TIMEOUT)) {
      var refused = assertThrows(JedisDataException.class, () -> fair.acquire("me", timeout));
      assertTrue(String.valueOf(refused.getMessage()).contains("LOCKTYPE"), refused::getMessage);
    }
    assertThrows(JedisDataException.class, fair::force);
    assertEquals("", fair.queue());
    assertEquals(2L, redis.server().command("HLEN", fair.lock));
  }

  @Test
  void tokensIncreaseAndOutliveTheLock() {
    long last = 0;
    for (int i = 0; i < 5; i++) {
      long token = fair.acquire("me", TIMEOUT).get(1);
      assertTrue(token > last);
      last = token;
      fair.release("me");
    }
    assertTrue(last < 1L << 53);
    assertEquals(List.of(fair.token), fair.keys());
    assertTrue(fair.pttl(fair.token) > 0);
  }
}
