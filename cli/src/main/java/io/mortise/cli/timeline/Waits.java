package io.mortise.cli.timeline;

import java.util.List;

/** The waits before holds. */
public final class Waits {
  private final long[] sortedNanos;

  private Waits(long[] sortedNanos) {
    this.sortedNanos = sortedNanos;
  }

  /** The waits before these holds. */
  public static Waits of(List<Hold> holds) {
    return new Waits(holds.stream().mapToLong(Hold::waitedNanos).sorted().toArray());
  }

  /**
   * Returns the wait that this share of the holders did not exceed, in ns.
   *
   * @param share from 0 to 1
   */
  public long atMostNanos(double share) {
    if (sortedNanos.length == 0) {
      return 0;
    }
    int rank = (int) Math.ceil(share * sortedNanos.length);
    return sortedNanos[Math.max(0, rank - 1)];
  }
}
