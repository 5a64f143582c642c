package io.mortise.schedules.model;

import io.mortise.schedules.runtime.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of calls behave as the model says. {@code -Dschedules=N} runs N sequences,
 * {@code -Dschedules.seed=S} begins with that seed, and {@code -Dsequences.seed=S} does so for
 * these sequences alone. A failure is printed with the fewest calls that still fail.
 */
class SequencesTest {
  private static final int SEQUENCES = Integer.getInteger("schedules", 100);
  private static final long FIRST_SEED = Long.getLong("sequences.seed", 1);
  private static final int LENGTH = 40;
  private static final int STEPS = 50_000;

  @Test
  void randomSequencesBehaveAsTheModelSays() throws Exception {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
      List<Call> calls = Call.sequence(new Random(seed), LENGTH);
      String failure = failureOf(seed, calls);
      if (failure != null) {
        System.out.printf(
            "seed %d fails; the fewest calls that do are looked for%n%s%n", seed, failure);
        List<Call> fewest = fewest(seed, calls);
        throw new AssertionError(
            "to repeat it: -Dschedules=1 -Dschedules.seed=%d%n%s"
                .formatted(seed, failureOf(seed, fewest)));
      }
    }
  }

  private static List<Call> fewest(long seed, List<Call> calls) throws InterruptedException {
    List<Call> fewest = new ArrayList<>(calls);
    boolean shorter = true;
    while (shorter) {
      shorter = false;
      for (int i = fewest.size() - 1; i >= 0; i--) {
        List<Call> without = new ArrayList<>(fewest);
        without.remove(i);
        if (failureOf(seed, without) != null) {
          fewest = without;
          shorter = true;
        }
      }
    }
    return fewest;
  }

  private static String failureOf(long seed, List<Call> calls) throws InterruptedException {
    String[] failure = new String[1];
    Throwable thrown =
        new Schedule(seed, STEPS, false).run(() -> failure[0] = Machine.failureOf(calls));
    return thrown == null ? failure[0] : calls + "\n" + thrown;
  }
}
