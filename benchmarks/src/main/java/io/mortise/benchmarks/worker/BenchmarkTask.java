package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cycle that the threads of a worker repeat: enter, work inside, leave.
 *
 * @param id the same work has the same sections in each round
 * @param names the names that are locked; with {@link NameSharing#NOBODY} each thread adds its
 *     number
 * @param sectionMicros how long the critical section takes, in processor time
 * @param writeShare how many of the cycles write, of a {@link MeasuredLock#READ}; 0 to 1
 * @param latency which time is measured
 * @param counterFile the file of the {@link SharedMemoryCounter}, if the hand-off is measured
 */
public record BenchmarkTask(
    String id,
    MeasuredLock lock,
    List<String> names,
    NameSharing sharing,
    int threads,
    int sectionMicros,
    double writeShare,
    Latency latency,
    @Nullable String counterFile) {

  /** The time of a cycle that is measured. */
  public enum Latency {
    /** From the request to the entry, and of the release: the cost of the lock. */
    CYCLE,
    /** The same, and the entry and the exit for themselves. */
    PARTS,
    /** From the request to the entry. */
    WAIT
  }

  /** Keeps a copy of the names. */
  public BenchmarkTask {
    names = List.copyOf(names);
  }

  /** Cycles of each thread on its own lock. */
  public static BenchmarkTask own(String id, MeasuredLock lock, List<String> names, int threads) {
    return new BenchmarkTask(
        id, lock, names, NameSharing.NOBODY, threads, 0, 0, Latency.CYCLE, null);
  }

  /** The names of one thread. */
  List<String> namesOf(int thread) {
    return sharing == NameSharing.NOBODY
        ? names.stream().map(name -> name + ":" + thread).toList()
        : names;
  }
}
