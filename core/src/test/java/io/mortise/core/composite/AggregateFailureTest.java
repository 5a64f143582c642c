package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What one exception for several members says. */
class AggregateFailureTest {
  private static final String WAIT = "look at its load, or wait for longer";
  private static final String PASSWORD = "correct user and password";

  private static LockException silent(String name) {
    return new LockException(Reason.UNREACHABLE, name + " is silent", WAIT, null);
  }

  private static LockException refusing(String name) {
    return new LockException(Reason.ACCESS_DENIED, name + " refuses", PASSWORD, null);
  }

  private static LockException plain(String message) {
    return new LockException(Reason.IN_DOUBT, message, null);
  }

  private static LockException of(RuntimeException... failures) {
    return AggregateFailure.of("all", "too few", List.of(failures));
  }

  private static void assertSays(String message, RuntimeException... failures) {
    assertEquals("lock 'all': too few: " + message, of(failures).getMessage());
  }

  @Test
  void aRemedyThatAllShareStandsOnceAtTheEnd() {
    assertSays("a is silent | b is silent; " + WAIT, silent("a"), silent("b"));
    assertSays("a is silent; " + WAIT, silent("a"), silent("a"));
    assertEquals(Optional.of(WAIT), of(silent("a"), silent("b")).remedy());
  }

  @Test
  void aRemedyOfSomeStaysBesideTheirFacts() {
    assertSays(
        "a is silent; " + WAIT + " | b refuses; " + PASSWORD + " | c is silent; " + WAIT,
        silent("a"),
        refusing("b"),
        silent("c"));
    assertSays("a is silent; " + WAIT + " | b", silent("a"), plain("b"));
    assertSays("a | b is silent; " + WAIT, new IllegalStateException("a"), silent("b"));
    assertEquals(Optional.empty(), of(silent("a"), refusing("b")).remedy());
  }

  /** A name, or a reply, may have a semicolon. */
  @Test
  void factsWithoutARemedyAreJoined() {
    assertSays("a | b", plain("a"), plain("b"), plain("a"));
    assertSays(
        "'x; job': closed | 'y; job': closed",
        plain("'x; job': closed"),
        plain("'y; job': closed"));
    assertSays(
        "it was so; or so | it is not so; or so",
        plain("it was so; or so"),
        plain("it is not so; or so"));
  }
}
