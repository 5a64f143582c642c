package io.mortise.cli.timeline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** When more than one was inside. */
public final class Overlaps {

  /**
   * A stretch during which the same number were inside; at least one.
   *
   * @param exclusive how many who may be there only alone
   * @param shared how many who may be there together
   */
  public record Stretch(int exclusive, int shared, long fromNanos, long toNanos) {

    /** How many were inside. */
    public int inside() {
      return exclusive + shared;
    }

    /** Whether some were there together that exclude each other. */
    public boolean clashes() {
      return exclusive > 0 && inside() > 1;
    }
  }

  private record Step(long atNanos, int exclusive, int shared) {
    static Step of(Hold hold, boolean enters) {
      int change = enters ? 1 : -1;
      return new Step(
          enters ? hold.enteredNanos() : hold.leftNanos(),
          hold.isShared() ? 0 : change,
          hold.isShared() ? change : 0);
    }

    int change() {
      return exclusive + shared;
    }
  }

  private Overlaps() {}

  /** All stretches with somebody inside, in the order of time. */
  public static List<Stretch> stretches(List<Hold> holds) {
    List<Step> steps =
        holds.stream()
            .flatMap(hold -> Stream.of(Step.of(hold, true), Step.of(hold, false)))
            // Who leaves at the moment at which another enters was not inside with it.
            .sorted(Comparator.comparingLong(Step::atNanos).thenComparingInt(Step::change))
            .toList();
    List<Stretch> stretches = new ArrayList<>();
    int exclusive = 0;
    int shared = 0;
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      exclusive += step.exclusive;
      shared += step.shared;
      long until = i + 1 < steps.size() ? steps.get(i + 1).atNanos : step.atNanos;
      if (exclusive + shared > 0 && until > step.atNanos) {
        stretches.add(new Stretch(exclusive, shared, step.atNanos, until));
      }
    }
    return stretches;
  }
}
