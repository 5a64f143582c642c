package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An operation that an error may interrupt is looked for soon, whenever it was entered. */
@Tag("interleavings")
class CompletionsInterleavingsTest {
  private static final int SCHEDULES = 300;
  private static final long SOON = 5_000_000_000L;

  /** An operation whose thread was not interrupted by an error. */
  private static final class Entered implements Completions.Operation {
    @Override
    public boolean isBroken() {
      return false;
    }

    @Override
    public void complete() {
      throw new AssertionError("it is not broken");
    }
  }

  private static Completions completions() {
    return new Completions(dueNanos -> {}, task -> {}, new FakeTicker());
  }

  private static void assertLookedForSoon(Completions completions) {
    assertTrue(completions.dueNanos() <= SOON, () -> "looked for at " + completions.dueNanos());
  }

  @Test
  void anOperationThatBeginsDuringALookIsLookedForSoon() {
    check(
        SCHEDULES,
        () -> {
          Completions completions = completions();
          race(() -> completions.begin(new Entered()), () -> completions.onDue(0));
          assertLookedForSoon(completions);
        });
  }

  @Test
  void anOperationAfterOneThatBeginsAndEndsDuringALookIsLookedForSoon() {
    check(
        SCHEDULES,
        () -> {
          Completions completions = completions();
          race(
              () -> {
                Entered first = new Entered();
                completions.begin(first);
                completions.end(first);
                completions.begin(new Entered());
              },
              () -> completions.onDue(0));
          assertLookedForSoon(completions);
        });
  }

  @Test
  void anOperationThatBeginsAsTheLastOneEndsIsLookedForSoon() {
    check(
        SCHEDULES,
        () -> {
          Completions completions = completions();
          Entered last = new Entered();
          completions.begin(last);
          race(
              () -> completions.end(last),
              () -> completions.onDue(0),
              () -> completions.begin(new Entered()));
          assertLookedForSoon(completions);
        });
  }
}
