package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.mortise.benchmarks.measure.Latencies;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a worker did.
 *
 * @param ops cycles, or renewals
 * @param nanos from the beginning until its last thread was done
 * @param leastThread cycles of the thread that had fewest
 * @param errors cycles that failed
 * @param error what the first of them said
 * @param cpuNanos processor time of the whole process meanwhile
 * @param latencies encoded, see {@link Latencies}
 * @param handOvers from leaving to the next entry, encoded
 * @param figures anything else
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Report(
    long ops,
    long nanos,
    long leastThread,
    long errors,
    @Nullable String error,
    long cpuNanos,
    @Nullable String latencies,
    @Nullable String handOvers,
    Map<String, Double> figures) {

  /** Only figures. */
  static Report of(long nanos, long cpuNanos, Map<String, Double> figures) {
    return new Report(0, nanos, 0, 0, null, cpuNanos, null, null, figures);
  }
}
