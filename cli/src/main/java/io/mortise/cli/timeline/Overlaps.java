package io.mortise.cli.timeline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The numbers of threads inside, over time. */
public final class Overlaps {

  /**
   * A stretch of time with a constant number of threads inside; at least one.
   *
   * @param exclusive the number of exclusive holds
   * @param shared the number of shared holds
   */
  public record Stretch(int exclusive, int shared, long fromNanos, long toNanos) {

    /** Returns the number of threads inside. */
    public int inside() {
      return exclusive + shared;
    }

    /** Whether holds overlap that exclude each other. */
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

  /** Returns all stretches, in the order of time. */
  public static List<Stretch> stretches(List<Hold> holds) {
    List<Step> steps =
        holds.stream()
            .flatMap(hold -> Stream.of(Step.of(hold, true), Step.of(hold, false)))
            // A thread that leaves when another enters does not overlap with it.
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
