package io.mortise.benchmarks.measure;

import io.mortise.benchmarks.cases.Workload;
import io.mortise.benchmarks.locks.LockLibrary;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A contest with all its rounds.
 *
 * @param caseName of which case
 * @param samples of each subject, in the order of the rounds
 * @param baseline the result to whose times this one is compared, of the same case
 */
public record ContestResult(
    String caseName,
    Workload contest,
    Map<LockLibrary, List<Sample>> samples,
    @Nullable ContestResult baseline) {

  /** Keeps a copy, in order. */
  public ContestResult {
    Map<LockLibrary, List<Sample>> inOrder = new EnumMap<>(LockLibrary.class);
    inOrder.putAll(samples);
    samples = Collections.unmodifiableMap(inOrder);
  }

  /** The rounds of one subject; empty if it does not take part. */
  public List<Sample> of(LockLibrary subject) {
    return samples.getOrDefault(subject, List.of());
  }
}
