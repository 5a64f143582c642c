package io.mortise.it.fairlock;

import static io.mortise.it.fairlock.ScriptedQueue.TIMEOUT;
import static io.mortise.it.fairlock.ScriptedQueue.holder;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.ScriptServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fair scripts alone: the run that a grant covers, and the places of those that it served. */
@Timeout(30)
@Tag("redis-version")
class FairRunScriptTest {
  private static final long HELD = 10_000;

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final ScriptedQueue fair = new ScriptedQueue(redis.server());

  @ParameterizedTest(name = "queue: {0}, at most {1} -> run: {2}, queue: {3}")
  @CsvSource(
      delimiter = '|',
      value = {
        // queue before | the longest run | run | queue after
        "''             | 8 | ''      | ''",
        "me             | 8 | ''      | ''",
        "me A           | 8 | A       | A",
        "me A B C       | 8 | A B C   | A B C",
        "me A B C       | 2 | A B     | A B C",
        "me A B C       | 0 | ''      | A B C",
        "me O1 A        | 8 | ''      | O1 A",
        "me A O1 B      | 8 | A       | A O1 B",
        "me A R1 B      | 8 | A       | A R1 B",
        "me A B R1      | 2 | A B     | A B R1",
        "O1! me A       | 8 | A       | A",
        "A! R1! me B O1 | 8 | B       | B O1",
        "me A? B        | 8 | B       | B",
      })
  void aRunConsistsOfTheWaitersOfTheClientDirectlyBehind(
      String before, int most, String run, String after) {
    fair.queued(before);
    for (int time = 0; time < 2; time++) { // a repetition finds the same run at the head
      List<?> reply = fair.acquireWithRun("me", most, TIMEOUT);
      assertEquals(1L, reply.get(0));
      assertEquals(run, ScriptedQueue.run(reply));
      assertEquals(after, fair.queue());
      long token = (Long) reply.get(1);
      int length = reply.size() - 3;
      assertEquals(
          Long.toString(token + length),
          redis.server().command("GET", fair.token),
          "a token for each");
    }
  }

  @Test
  void anAttemptThatIsNotGrantedHasNoRun() {
    fair.heldBy("X", HELD);
    fair.queued("me A");
    assertEquals(2, fair.acquireWithRun("me", 8, TIMEOUT).size());
    assertEquals(2, fair.acquireWithRun("B", 8, 0).size());
  }

  @Test
  void tokensIncreaseBehindARun() {
    fair.queued("me A B");
    long first = (Long) fair.acquireWithRun("me", 8, TIMEOUT).get(1);
    fair.release("me", "A", "B");
    List<?> next = fair.acquireWithRun("C", 8, TIMEOUT);
    assertTrue((Long) next.get(1) > first + 2, next::toString);
    assertTrue((Long) next.get(2) == first + 2, next::toString);
  }

  @ParameterizedTest(name = "lock: {0}, queue: {1}, served: {2} -> {3}, queue: {4}, notified: {5}")
  @CsvSource(
      delimiter = '|',
      value = {
        "me | A B C   | A     | 1 | B C   | B",
        "me | A B C   | A B   | 1 | C     | C",
        "me | A B     | A B   | 1 | ''    | plain",
        "me | A O1 B  | A     | 1 | O1 B  | O1",
        "me | B       | A B   | 1 | ''    | plain",
        "me | B A     | A     | 1 | B     | B",
        "me | A! B C  | A B   | 1 | C     | C",
        "me | ''      | A     | 1 | ''    | plain",
        "X  | A B     | A     | 0 | B     | ''",
        "free | A B C | A B   | 0 | C     | C",
        "free | B     | A     | 0 | B     | ''",
      })
  void aReleaseRemovesThePlacesOfThoseThatTheHoldHasServed(
      String lock, String before, String served, long answer, String after, String notified) {
    given(lock, before);
    assertEquals(answer, fair.release("me", served.split(" ", -1)).get(0));
    assertNotified(notified);
    assertEquals(after, fair.queue());
    assertEquals(0, fair.release("me", served.split(" ", -1)).get(0), "a repetition");
    assertNotified("");
    assertEquals(after, fair.queue());
  }

  @Test
  void aReleaseThatKeepsTheLockBusyRemovesThemToo() {
    given("me", "A B C");
    assertEquals(1, fair.keep("me", 5_000, "A", "B").get(0));
    assertEquals("C", fair.queue());
    assertNotified("C");
    assertEquals(":kept", fair.holders().substring(fair.holders().length() - 5));
  }

  @Test
  void oneWhoseHoldIsLostRemovesThemAndKeepsNothing() {
    given("free", "A B C");
    assertEquals(List.of(0L, 0L), fair.keep("me", 5_000, "A", "B"));
    assertEquals("C", fair.queue());
    assertNotified("C");
    assertEquals("", fair.holders());
  }

  @ParameterizedTest(name = "lock: {0}, queue: {1}, served: {2} -> {3}, queue: {4}, notified: {5}")
  @CsvSource(
      delimiter = '|',
      value = {
        "me   | A B C | A B | 1 | C   | C",
        "free | A B C | A B | 1 | C   | C",
        "X    | A B C | A B | 1 | C   | ''",
        "X    | C     | A B | 0 | C   | ''",
        "free | C     | A B | 0 | C   | ''",
      })
  void whatALostHoldHasServedLeavesTheQueue(
      String lock, String before, String served, long answer, String after, String notified) {
    given(lock, before);
    assertEquals(answer, fair.leave("me", served.split(" ", -1)).get(0));
    assertNotified(notified);
    assertEquals(after, fair.queue());
    assertEquals(lock.equals("X") ? "X" : "", fair.holders());
  }

  private void given(String lock, String queue) {
    if (!lock.equals("free")) {
      fair.heldBy(lock, HELD);
    }
    fair.queued(queue);
    redis.published();
  }

  private void assertNotified(String who) {
    List<String> expected =
        who.isEmpty()
            ? List.of()
            : List.of(fair.channels + (who.equals("plain") ? "" : ":" + holder(who)) + " 0");
    assertEquals(expected, redis.published());
  }
}
