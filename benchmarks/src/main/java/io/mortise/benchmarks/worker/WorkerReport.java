package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.mortise.benchmarks.measure.Latencies;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a worker to a request.
 *
 * @param ops cycles, or renewals
 * @param nanos from the beginning until its last thread was done
 * @param leastThread cycles of the thread that had fewest
 * @param errors cycles that failed
 * @param error the message of the first of them
 * @param cpuNanos processor time of the whole process meanwhile
 * @param latencies encoded, see {@link Latencies}
 * @param handOffs times from leaving to the next entry, encoded
 * @param figures other figures
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record WorkerReport(
    long ops,
    long nanos,
    long leastThread,
    long errors,
    @Nullable String error,
    long cpuNanos,
    @Nullable String latencies,
    @Nullable String handOffs,
    Map<String, Double> figures) {

  /** The times; empty if none were measured. */
  public Latencies times() {
    return latencies == null ? new Latencies() : Latencies.decode(latencies);
  }

  /** A report without cycles. */
  static WorkerReport of(long nanos, long cpuNanos, Map<String, Double> figures) {
    return new WorkerReport(0, nanos, 0, 0, null, cpuNanos, null, null, figures);
  }
}
