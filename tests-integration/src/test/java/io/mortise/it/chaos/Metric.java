package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * What a {@link SoakTest} measures again and again while the clients rest, summed up over the
 * client processes of a lock, or over its servers; and by how much it may grow.
 *
 * <p>The second half of the samples is compared with the first half. The first samples are left
 * out: classes are loaded and pools are filled then. What is lost in each round stays, so that it
 * moves the median, the more the longer the run is. Connections are those of pools, which the
 * largest crowd of a round fills: lost ones also keep each later sample above the first median.
 */
enum Metric {
  /** The heap after a full collection, in KiB. */
  HEAP_KIB("heap, KiB", 0.04, 400),
  /** The objects of Mortise's classes after a full collection. */
  OBJECTS("Mortise's objects", 0.1, 150),
  /** The live threads. */
  THREADS("threads", 0.1, 4),
  /** The open file descriptors. */
  FILES("file descriptors", 0.1, 4),
  /** The connections of clients at the servers. */
  CONNECTIONS("connections", 0.1, 4),
  /** The keys on the servers, without tokens, which expire later. */
  KEYS("keys", 0, 2);

  /** The least number of samples that have a trend. */
  static final int MIN_SAMPLES = 8;

  private final String title;
  private final double allowedShare;
  private final long allowedNumber;

  Metric(String title, double allowedShare, long allowedNumber) {
    this.title = title;
    this.allowedShare = allowedShare;
    this.allowedNumber = allowedNumber;
  }

  /**
   * A comparison of the two halves of a run.
   *
   * @param first the median of the first half
   * @param second the median of the second half
   * @param least the least sample of the second half
   * @param allowed the largest second median that counts as flat
   */
  record Trend(Metric metric, long first, long second, long least, double allowed) {
    boolean grows() {
      return second > allowed && (metric != CONNECTIONS || least > first);
    }

    @Override
    public String toString() {
      return "%s: %,d, then %,d, and never less than %,d; %,.0f are allowed"
          .formatted(metric.title, first, second, least, allowed);
    }
  }

  String title() {
    return title;
  }

  /** Returns the trend of these samples; empty if they are too few. */
  Optional<Trend> trend(List<Long> samples) {
    if (samples.size() < MIN_SAMPLES) {
      return Optional.empty();
    }
    List<Long> settled = samples.subList(samples.size() / 4, samples.size());
    int middle = settled.size() / 2;
    long first = median(settled.subList(0, middle));
    List<Long> later = settled.subList(middle, settled.size());
    double allowed = first * (1 + allowedShare) + allowedNumber;
    return Optional.of(new Trend(this, first, median(later), Collections.min(later), allowed));
  }

  private static long median(List<Long> values) {
    List<Long> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted.get(sorted.size() / 2);
  }
}
