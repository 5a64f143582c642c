package io.mortise.benchmarks.measure;

import io.mortise.benchmarks.cases.Contest;
import io.mortise.benchmarks.locks.Subject;
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
    Contest contest,
    Map<Subject, List<Sample>> samples,
    @Nullable ContestResult baseline) {

  /** Keeps a copy, in order. */
  public ContestResult {
    Map<Subject, List<Sample>> inOrder = new EnumMap<>(Subject.class);
    inOrder.putAll(samples);
    samples = Collections.unmodifiableMap(inOrder);
  }

  /** The rounds of one subject; empty if it does not take part. */
  public List<Sample> of(Subject subject) {
    return samples.getOrDefault(subject, List.of());
  }
}
