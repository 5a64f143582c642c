package io.mortise.benchmarks.cases;

import com.google.common.collect.Maps;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The samples of one workload.
 *
 * @param caseName the case of the workload
 * @param warmUp the turn before the first round, of which only the complaint counts; may be empty
 * @param samples of each library, in the order of the rounds
 * @param baseline the result of the same case to whose times this one is compared
 */
public record WorkloadResult(
    String caseName,
    Workload workload,
    Map<LockLibrary, Sample> warmUp,
    Map<LockLibrary, List<Sample>> samples,
    @Nullable WorkloadResult baseline) {

  /** Copies the maps. */
  public WorkloadResult {
    warmUp = Maps.immutableEnumMap(warmUp);
    samples = Maps.immutableEnumMap(samples);
  }

  /** The rounds of one library; empty if it does not take part. */
  public List<Sample> of(LockLibrary library) {
    return samples.getOrDefault(library, List.of());
  }

  /**
   * The first complaint about one library, with the rounds that have one: their figures may be
   * missing, or say nothing. Empty if every cycle was in order.
   */
  public Optional<String> complaint(LockLibrary library) {
    List<String> complaints =
        of(library).stream().map(Sample::complaint).filter(Objects::nonNull).toList();
    if (!complaints.isEmpty()) {
      return Optional.of(
          "%d of %d rounds: %s"
              .formatted(complaints.size(), of(library).size(), complaints.get(0)));
    }
    return Optional.ofNullable(warmUp.get(library))
        .map(Sample::complaint)
        .map(complaint -> "warm-up: " + complaint);
  }
}
