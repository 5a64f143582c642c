package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The same work for each of several subjects.
 *
 * @param label short, unlike that of the other contests of its case
 * @param traits what tells it from them, as fields of the JSON
 * @param threads in each process
 * @param processes that lock
 * @param entrants who takes part, in the order of their turns
 * @param baseline the label of a contest of the same case to which its times are compared
 */
public record Workload(
    String label,
    Map<String, Object> traits,
    int threads,
    int processes,
    Map<LockLibrary, Entrant> entrants,
    @Nullable String baseline) {

  /** Keeps copies, in order. */
  public Workload {
    traits = Collections.unmodifiableMap(new LinkedHashMap<>(traits));
    Map<LockLibrary, Entrant> inOrder = new EnumMap<>(LockLibrary.class);
    inOrder.putAll(entrants);
    entrants = Collections.unmodifiableMap(inOrder);
  }

  /** One subject, ready to run. */
  @FunctionalInterface
  public interface Entrant {

    /** Takes a turn of about that length. */
    Sample run(Duration time) throws InterruptedException;
  }
}
