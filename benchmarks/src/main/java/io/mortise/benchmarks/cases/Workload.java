package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The same task for each of several libraries.
 *
 * @param label short and unique in its case
 * @param dimensions what distinguishes it from the other workloads, as fields of the JSON
 * @param threads in each process
 * @param processes that lock
 * @param contenders the libraries that take part, in the order of their turns in the first round
 * @param baseline the label of a workload of the same case to which its times are compared
 */
public record Workload(
    String label,
    Map<String, Object> dimensions,
    int threads,
    int processes,
    Map<LockLibrary, Contender> contenders,
    @Nullable String baseline) {

  /** Copies the maps; their order stays. */
  public Workload {
    dimensions = ImmutableMap.copyOf(dimensions);
    contenders = Maps.immutableEnumMap(contenders);
  }

  /** One library, ready to run. */
  @FunctionalInterface
  public interface Contender {

    /** Takes a turn of about that duration. */
    Sample run(Duration time) throws InterruptedException;
  }
}
