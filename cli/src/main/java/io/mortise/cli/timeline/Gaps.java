package io.mortise.cli.timeline;

import java.util.ArrayList;
import java.util.List;

/** When nobody was inside, between the first and the last. */
public final class Gaps {

  /** From the moment at which the last one inside left to that at which the next was in. */
  public record Gap(long fromNanos, long toNanos) {

    /** How long it was. */
    public long nanos() {
      return toNanos - fromNanos;
    }
  }

  private Gaps() {}

  /** All of them, in the order of time. */
  public static List<Gap> between(List<Hold> holds) {
    List<Hold> ordered = holds.stream().sorted(Hold.BY_ENTRY).toList();
    List<Gap> gaps = new ArrayList<>();
    long lastLeft = ordered.isEmpty() ? 0 : ordered.get(0).leftNanos();
    for (Hold hold : ordered) {
      if (hold.enteredNanos() > lastLeft) {
        gaps.add(new Gap(lastLeft, hold.enteredNanos()));
      }
      lastLeft = Math.max(lastLeft, hold.leftNanos());
    }
    return gaps;
  }
}
