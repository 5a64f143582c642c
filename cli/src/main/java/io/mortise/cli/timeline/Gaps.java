package io.mortise.cli.timeline;

import java.util.ArrayList;
import java.util.List;

/** The gaps in which no thread was inside, between the first hold and the last. */
public final class Gaps {

  /** A gap, from the moment at which the last thread left to the next entry. */
  public record Gap(long fromNanos, long toNanos) {

    /** Returns its duration. */
    public long nanos() {
      return toNanos - fromNanos;
    }
  }

  private Gaps() {}

  /** Returns all gaps, in the order of time. */
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
