package io.mortise.testkit;

import static io.mortise.testkit.HoldLog.Mode.EXCLUSIVE;
import static io.mortise.testkit.HoldLog.Mode.SHARED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.HoldLog.Entry;
import io.mortise.testkit.HoldLog.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HoldCheckerTest {
  private static final long OPEN = -1;

  private static Entry hold(String holder, Mode mode, long token, long from, long to) {
    OptionalLong end = to == OPEN ? OptionalLong.empty() : OptionalLong.of(to);
    return new Entry("lock", holder, 1, token, mode, from, end);
  }

  static Stream<Arguments> overlaps() {
    return Stream.of(
        overlap("one after the other", 0, w("a", 1, 0, 10), w("b", 2, 10, 20)),
        overlap("two writers", 1, w("a", 1, 0, 10), w("b", 2, 9, 20)),
        overlap("one inside the other", 1, w("a", 1, 0, 30), w("b", 2, 10, 20)),
        overlap("at the same instant", 1, w("a", 1, 5, 5), w("b", 2, 5, 9)),
        overlap("three at once", 3, w("a", 1, 0, 9), w("b", 2, 1, 9), w("c", 3, 2, 9)),
        overlap("readers together", 0, r("a", 0, 10), r("b", 5, 15), r("c", 6, 7)),
        overlap("a writer among readers", 2, r("a", 0, 10), r("b", 1, 10), w("c", 2, 5, 15)),
        overlap("a reader inside a writer", 1, w("a", 1, 0, 10), r("b", 5, 15)),
        overlap("re-entry", 0, w("a", 1, 0, 10), w("a", 1, 5, 8)),
        overlap("a downgrade", 0, w("a", 1, 0, 10), r("a", 8, 20)),
        overlap(
            "a downgrade and another writer", 1, w("a", 1, 0, 9), r("a", 8, 20), w("b", 2, 15, 17)),
        overlap("after a hold without an end", 0, w("a", 1, 0, OPEN), w("b", 2, 1, 5)),
        overlap("a hold without an end inside another", 1, w("a", 1, 0, 10), w("b", 2, 5, OPEN)));
  }

  private static Arguments overlap(String what, int count, Entry... entries) {
    return Arguments.of(what, count, List.of(entries));
  }

  private static Entry w(String holder, long token, long from, long to) {
    return hold(holder, EXCLUSIVE, token, from, to);
  }

  private static Entry r(String holder, long from, long to) {
    return hold(holder, SHARED, 1, from, to);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("overlaps")
  void overlapsAreFoundInWhateverOrderTheyAreRead(String what, int count, List<Entry> entries) {
    assertEquals(count, HoldChecker.check(entries).overlaps().size());
    List<Entry> reversed = new ArrayList<>(entries);
    Collections.reverse(reversed);
    assertEquals(count, HoldChecker.check(reversed).overlaps().size());
  }

  static Stream<Arguments> disorders() {
    return Stream.of(
        overlap("rising", 0, w("a", 1, 0, 1), w("b", 2, 2, 3), w("a", 9, 4, 5)),
        overlap("the same twice", 1, w("a", 1, 0, 1), w("b", 1, 2, 3)),
        overlap("falling", 1, w("a", 2, 0, 1), w("b", 1, 2, 3)),
        overlap("two below the largest", 2, w("a", 5, 0, 1), w("b", 3, 2, 3), w("c", 4, 4, 5)),
        overlap("re-entry has the same", 0, w("a", 1, 0, 9), w("a", 1, 2, 3)),
        overlap("the same holder later has not", 1, w("a", 1, 0, 1), w("a", 1, 2, 3)),
        overlap("readers with the last writer's", 0, w("a", 1, 0, 1), r("b", 2, 5), r("c", 3, 4)),
        overlap("a reader with an older one", 1, w("a", 2, 0, 1), r("b", 2, 5)),
        overlap("a reader with a newer one", 0, r("b", 2, 5), hold("c", SHARED, 7, 3, 5)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("disorders")
  void tokensOutOfOrderAreFound(String what, int count, List<Entry> entries) {
    assertEquals(count, HoldChecker.check(entries).disorders().size());
  }

  @Test
  void namesAndProcessesAreKeptApart() {
    Entry first = new Entry("x", "a", 1, 1, EXCLUSIVE, 0, OptionalLong.of(10));
    Entry otherName = new Entry("y", "a", 2, 1, EXCLUSIVE, 5, OptionalLong.empty());
    HoldChecker.Report safe = HoldChecker.check(List.of(first, otherName));
    assertTrue(safe.isSafe());
    safe.assertSafe();
    assertEquals(2, safe.holds());
    assertEquals(1, safe.unfinished());
    assertEquals(Map.of(1L, 1, 2L, 1), safe.holdsByProcess());

    Entry namesake = new Entry("x", "a", 2, 2, EXCLUSIVE, 5, OptionalLong.of(6));
    assertEquals(1, HoldChecker.check(List.of(first, namesake)).overlaps().size());
  }

  @Test
  void readersAtOneMomentAreCounted() {
    assertEquals(
        3, HoldChecker.check(List.of(r("a", 0, 9), r("b", 1, 9), r("c", 2, 9))).mostReaders());
    assertEquals(
        1, HoldChecker.check(List.of(r("a", 0, 2), r("b", 2, 4), r("c", 4, 5))).mostReaders());
    assertEquals(0, HoldChecker.check(List.of(w("a", 1, 0, 2))).mostReaders());
  }

  @Test
  void theReportSaysWhoAndWhen() {
    HoldChecker.Report report =
        HoldChecker.check(List.of(w("anna", 7, 0, 10), w("bert", 6, 9, 20)));
    var error = assertThrows(AssertionError.class, report::assertSafe);
    String text = error.getMessage();
    assertTrue(text.contains("1 overlaps; 1 tokens out of order"), text);
    assertTrue(
        text.contains("EXCLUSIVE of 'lock' by anna in process 1, token 7, from 0 ns to 10"), text);
    assertTrue(text.contains("bert"), text);
  }
}
