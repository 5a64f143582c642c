package io.mortise.benchmarks.measure;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one subject did in one round. NaN, or null, is what was not measured.
 *
 * @param opsPerSecond cycles of locking and unlocking, or what the case says
 * @param latencies of each of them
 * @param commandsPerOp commands that came over the wire, of all servers, for each of them
 * @param figures what the case adds
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

  /** What one of a hundred exceeds, µs. */
  public double p99Micros() {
    return latencies.micros(99);
  }
}
