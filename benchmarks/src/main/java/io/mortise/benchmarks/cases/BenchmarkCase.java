package io.mortise.benchmarks.cases;

import java.time.Duration;
import java.util.List;

/** A case of the benchmark: workloads that are measured together. */
public interface BenchmarkCase {

  /** Its name for {@code --case}. */
  String name();

  /** Its description, in a few words. */
  String description();

  /** The figure that its chart shows. */
  default Figure figure() {
    return new Figure("ops_per_s", "lock and unlock, per second");
  }

  /** Whether a turn sets its own duration: such a case has fewer rounds, and no warm-up. */
  default boolean isLong() {
    return false;
  }

  /** The duration of the first turn, which does not count: until the code is compiled. */
  default Duration warmUp(BenchmarkSettings settings) {
    return settings.warmUp();
  }

  /** The rounds, in each of which every library has a turn. */
  default int rounds(BenchmarkSettings settings) {
    return isLong() ? settings.longRounds() : settings.rounds();
  }

  /** The duration of a turn. */
  default Duration turn(BenchmarkSettings settings) {
    return settings.turn();
  }

  /** About how long all of it takes without {@code --quick}, for the help. */
  default Duration fullTime() {
    return Duration.ofMinutes(1);
  }

  /** The figures that are drawn against the size of the workloads; none by default. */
  default List<Growth> growth() {
    return List.of();
  }

  /** Whether {@link BenchmarkSettings#moreHolds} are sizes of this case. */
  default boolean usesMoreHolds() {
    return false;
  }

  /** Starts servers and processes. Closing the setup ends them, whatever state they are in. */
  CaseSetup open(BenchmarkSettings settings) throws InterruptedException;

  /** The servers and processes of a case while it is measured. */
  interface CaseSetup extends AutoCloseable {

    /** The workloads, in order. */
    List<Workload> workloads();

    @Override
    void close();
  }

  /**
   * A number of the results.
   *
   * @param field its name in the JSON
   * @param title its name on the chart, with its unit
   */
  record Figure(String field, String title) {}

  /**
   * A figure against the size of the workload, one line for each library and each series.
   *
   * @param size the dimension that grows, a number
   * @param sizeTitle its name on the chart
   * @param series the dimension that tells apart workloads of one size
   */
  record Growth(String size, String sizeTitle, String series, Figure figure) {}
}
