package io.mortise.cli.timeline;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Threads that asked one after the other, each when the one before it was in line, and then came in
 * in some order.
 *
 * @param name for what they lined up
 * @param asked what each of them held, in the order of asking
 */
public record LineUp(String name, List<Hold> asked) {

  /** Keeps a copy of the list. */
  public LineUp {
    asked = List.copyOf(asked);
  }

  /** At each place of entering, as which it had asked; both from 0. */
  public List<Integer> entered() {
    return IntStream.range(0, asked.size())
        .boxed()
        .sorted(Comparator.comparingLong(place -> asked.get(place).enteredNanos()))
        .toList();
  }

  /** How many of them let somebody in before them who had asked after them. */
  public int overtaken() {
    return countOvertaken(entered().stream().map(Integer::longValue).toList(), 0);
  }

  /**
   * How many of these let somebody in before them who had asked after them, and later by more than
   * the tolerance.
   */
  public static int overtaken(List<Hold> holds, long toleranceNanos) {
    List<Long> askedNanos = holds.stream().sorted(Hold.BY_ENTRY).map(Hold::askedNanos).toList();
    return countOvertaken(askedNanos, toleranceNanos);
  }

  private static int countOvertaken(List<Long> askedInOrderOfEntering, long tolerance) {
    int overtaken = 0;
    long latest = Long.MIN_VALUE;
    for (long asked : askedInOrderOfEntering) {
      if (latest > Long.MIN_VALUE && latest - asked > tolerance) {
        overtaken++;
      }
      latest = Math.max(latest, asked);
    }
    return overtaken;
  }
}
