package io.mortise.benchmarks.measure;

import com.google.common.math.Quantiles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Medians of rounds, and of ratios of rounds. NaN, a value that was not measured, is ignored. */
public final class Medians {
  private Medians() {}

  /** The median: the middle value, or the mean of the two in the middle; NaN of no value. */
  public static double of(List<Double> values) {
    List<Double> measured = values.stream().filter(value -> !Double.isNaN(value)).toList();
    return measured.isEmpty() ? Double.NaN : Quantiles.median().compute(measured);
  }

  /** The median over the samples. */
  public static double of(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return of(samples.stream().map(figure::applyAsDouble).toList());
  }

  /**
   * The median of the ratios round by round. The two samples of a round are adjacent in time, so
   * other load of the machine affects both and cancels out; in a ratio of medians it would not.
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
