package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What one exception for several members says. */
class AggregateFailureTest {
  private static final String SILENCE = "; look at its load, or wait for longer";
  private static final String REFUSED = "; correct user and password";

  private static String of(String... messages) {
    List<LockException> failures = Stream.of(messages).map(FakeComposite::fault).toList();
    return AggregateFailure.of("all", "too few", failures).getMessage();
  }

  @Test
  void aRemedyThatSeveralShareStandsOnceAtTheEnd() {
    assertEquals(
        "lock 'all': too few: a is silent | b is silent" + SILENCE,
        of("a is silent" + SILENCE, "b is silent" + SILENCE));
    assertEquals(
        "lock 'all': too few: a is silent | b refuses" + REFUSED + " | c is silent" + SILENCE,
        of("a is silent" + SILENCE, "b refuses" + REFUSED, "c is silent" + SILENCE));
    assertEquals(
        "lock 'all': too few: a | b | c | d" + REFUSED + SILENCE,
        of("a" + REFUSED, "b" + SILENCE, "c" + REFUSED, "d" + SILENCE));
  }

  @Test
  void aRemedyOfOneMemberStaysBesideItsFact() {
    assertEquals("lock 'all': too few: a" + SILENCE, of("a" + SILENCE));
    assertEquals("lock 'all': too few: a" + SILENCE, of("a" + SILENCE, "a" + SILENCE));
    assertEquals(
        "lock 'all': too few: a" + SILENCE + " | b" + REFUSED, of("a" + SILENCE, "b" + REFUSED));
  }

  @Test
  void factsWithoutARemedyAreJoined() {
    assertEquals("lock 'all': too few: a | b", of("a", "b", "a"));
    assertEquals("lock 'all': too few: a | b" + SILENCE, of("a", "b" + SILENCE));
  }
}
