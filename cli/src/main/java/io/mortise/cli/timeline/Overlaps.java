package io.mortise.cli.timeline;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** When more than one was inside. */
public final class Overlaps {

  /**
   * A stretch during which the same number were inside.
   *
   * @param inside how many, at least 1
   */
  public record Stretch(int inside, long fromNanos, long toNanos) {}

  private record Step(long atNanos, int change) {}

  private Overlaps() {}

  /** All stretches with somebody inside, in the order of time. */
  public static List<Stretch> stretches(List<Hold> holds) {
    List<Step> steps =
        holds.stream()
            .flatMap(
                hold -> Stream.of(new Step(hold.enteredNanos(), 1), new Step(hold.leftNanos(), -1)))
            // Who leaves at the moment at which another enters was not inside with it.
            .sorted(
                (a, b) ->
                    a.atNanos == b.atNanos
                        ? Integer.compare(a.change, b.change)
                        : Long.compare(a.atNanos, b.atNanos))
            .toList();
    List<Stretch> stretches = new ArrayList<>();
    int inside = 0;
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      inside += step.change;
      long until = i + 1 < steps.size() ? steps.get(i + 1).atNanos : step.atNanos;
      if (inside > 0 && until > step.atNanos) {
        stretches.add(new Stretch(inside, step.atNanos, until));
      }
    }
    return stretches;
  }
}
