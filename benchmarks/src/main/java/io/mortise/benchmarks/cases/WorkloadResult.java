package io.mortise.benchmarks.cases;

import com.google.common.collect.Maps;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The samples of one workload.
 *
 * @param caseName the case of the workload
 * @param samples of each library, in the order of the rounds
 * @param baseline the result of the same case to whose times this one is compared
 */
public record WorkloadResult(
    String caseName,
    Workload workload,
    Map<LockLibrary, List<Sample>> samples,
    @Nullable WorkloadResult baseline) {

  /** Copies the map. */
  public WorkloadResult {
    samples = Maps.immutableEnumMap(samples);
  }

  /** The rounds of one library; empty if it does not take part. */
  public List<Sample> of(LockLibrary library) {
    return samples.getOrDefault(library, List.of());
  }
}
