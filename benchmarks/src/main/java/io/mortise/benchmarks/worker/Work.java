package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.Sharing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of a worker do, over and over: enter, stay, leave.
 *
 * @param id the same work has the same sections in each round
 * @param names what is locked; with {@link Sharing#NOBODY} each thread adds its number
 * @param stayMicros how long the critical section takes, in processor time
 * @param writeShare how many of the cycles write, of a {@link LockKind#READ}; 0 to 1
 * @param latency which time is measured
 * @param board the file of the {@link Board}, if the hand-over is measured
 */
public record Work(
    String id,
    LockKind lock,
    List<String> names,
    Sharing sharing,
    int threads,
    int stayMicros,
    double writeShare,
    Latency latency,
    @Nullable String board) {

  /** Which time of a cycle is measured. */
  public enum Latency {
    /** From asking until inside, and from leaving until outside: what the lock costs. */
    CYCLE,
    /** From asking until inside. */
    WAIT
  }

  /** Keeps a copy of the names. */
  public Work {
    names = List.copyOf(names);
  }

  /** Cycles on a lock of one's own. */
  public static Work own(String id, LockKind lock, List<String> names, int threads) {
    return new Work(id, lock, names, Sharing.NOBODY, threads, 0, 0, Latency.CYCLE, null);
  }

  /** The names of one thread. */
  List<String> namesOf(int thread) {
    return sharing == Sharing.NOBODY
        ? names.stream().map(name -> name + ":" + thread).toList()
        : names;
  }
}
