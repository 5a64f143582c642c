package io.mortise.benchmarks.cases;

import java.time.Duration;
import java.util.List;

/** Something that is measured. */
public interface BenchmarkCase {

  /** As {@code --case} names it. */
  String name();

  /** In a few words. */
  String about();

  /** What its chart shows. */
  Figure figure();

  /** Whether a turn takes its own time: such a case has fewer rounds, and no warm-up. */
  default boolean isLong() {
    return false;
  }

  /** How long the first turn of each is, which does not count: until its code is compiled. */
  default Duration warmUp(Settings settings) {
    return settings.warmUp();
  }

  /** Starts servers and processes. Closing it ends them, whatever state they are in. */
  Rig open(Settings settings) throws InterruptedException;

  /** Everything that a case needs while it is measured. */
  interface Rig extends AutoCloseable {

    /** What is compared, in order. */
    List<Workload> contests();

    @Override
    void close();
  }

  /**
   * A number of the results.
   *
   * @param field its name in the JSON
   * @param title what it is, with its unit
   */
  record Figure(String field, String title) {
    static final Figure OPS = new Figure("ops_per_s", "lock and unlock, per second");
  }
}
