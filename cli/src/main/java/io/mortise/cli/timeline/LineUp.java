package io.mortise.cli.timeline;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A line of threads that requested a lock one after the other, each when the one before it was in
 * line, and then entered in some order.
 *
 * @param name the lock
 * @param asked their holds, in the order of their requests
 */
public record LineUp(String name, List<Hold> asked) {

  /** Keeps a copy of the list. */
  public LineUp {
    asked = List.copyOf(asked);
  }

  /** Returns the places in the order of requests, in the order of entries; both count from 0. */
  public List<Integer> entered() {
    return IntStream.range(0, asked.size())
        .boxed()
        .sorted(Comparator.comparingLong(place -> asked.get(place).enteredNanos()))
        .toList();
  }

  /** Returns the number of threads that were overtaken by a later request. */
  public int overtaken() {
    return countOvertaken(entered().stream().map(Integer::longValue).toList(), 0);
  }

  /**
   * Returns the number of these holds that were overtaken by a request that was later by more than
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
