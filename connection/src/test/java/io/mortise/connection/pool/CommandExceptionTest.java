package io.mortise.connection.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException.Kind;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisDataException;

/** A failure of several attempts: how many have no answer, and at which server the first is. */
class CommandExceptionTest {
  private static CommandException silent(String serverRunId) {
    return new CommandException(Kind.UNREACHABLE, true, "no answer", null).onServer(serverRunId);
  }

  private static CommandException refused(String serverRunId) {
    return new CommandException(
            Kind.NOT_READY, false, "TRYAGAIN", new JedisDataException("TRYAGAIN"))
        .onServer(serverRunId);
  }

  @Test
  void withoutAnEarlierAttemptItIsTheSame() {
    CommandException only = silent("a");

    assertSame(only, only.afterEarlier(null));
  }

  @Test
  void eachAttemptWithoutAnAnswerCounts() {
    CommandException all = silent("c").afterEarlier(silent("b").afterEarlier(silent("a")));

    assertEquals(3, all.unansweredAttempts());
    assertEquals("a", all.serverRunId());
  }

  @Test
  void theServerIsThatOfTheFirstAttemptWithoutAnAnswer() {
    CommandException all = refused("c").afterEarlier(silent("b").afterEarlier(refused("a")));

    assertEquals(1, all.unansweredAttempts());
    assertEquals("b", all.serverRunId());
    assertEquals(Kind.NOT_READY, all.kind());
    assertTrue(all.mayHaveExecuted());
  }

  @Test
  void withoutASilentAttemptTheServerIsThatOfTheFirstOne() {
    CommandException all = refused("b").afterEarlier(refused("a"));

    assertEquals(0, all.unansweredAttempts());
    assertEquals("a", all.serverRunId());
  }
}
