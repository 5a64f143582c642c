package io.mortise.benchmarks.measure;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one library in one round; NaN or null if not measured.
 *
 * @param opsPerSecond cycles of locking and unlocking, or the operations of the case
 * @param latencies of each of them
 * @param commandsPerOp commands over the wire to all servers, for each of them
 * @param figures the figures that the case adds
 * @param complaint the first error, if a cycle failed
 */
public record Sample(
    double opsPerSecond,
    Latencies latencies,
    double commandsPerOp,
    Map<String, Double> figures,
    @Nullable String complaint) {

  /** Keeps a copy of the figures. */
  public Sample {
    figures = Map.copyOf(figures);
  }

  /** The median, µs. */
  public double p50Micros() {
    return latencies.micros(50);
  }

  /** The 99th percentile, µs. */
  public double p99Micros() {
    return latencies.micros(99);
  }
}
