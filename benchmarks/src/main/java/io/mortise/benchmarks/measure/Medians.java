package io.mortise.benchmarks.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Medians of rounds, and of ratios of rounds. What was not measured (NaN) does not count. */
public final class Medians {
  private Medians() {}

  /** The middle one, or the mean of the two in the middle; NaN of nothing. */
  public static double of(List<Double> values) {
    List<Double> sorted = values.stream().filter(value -> !Double.isNaN(value)).sorted().toList();
    int size = sorted.size();
    if (size == 0) {
      return Double.NaN;
    }
    return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
  }

  /** The median over the samples. */
  public static double of(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return of(samples.stream().map(figure::applyAsDouble).toList());
  }

  /**
   * The median of the ratios round by round. The rounds of both lie next to each other in time, so
   * what else the machine did touched both, and drops out; it would not in a ratio of medians.
   */
  public static double ofRatios(
      List<Sample> samples, List<Sample> others, ToDoubleFunction<Sample> figure) {
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < Math.min(samples.size(), others.size()); round++) {
      double ratio =
          figure.applyAsDouble(samples.get(round)) / figure.applyAsDouble(others.get(round));
      if (Double.isFinite(ratio)) {
        ratios.add(ratio);
      }
    }
    return of(ratios);
  }
}
