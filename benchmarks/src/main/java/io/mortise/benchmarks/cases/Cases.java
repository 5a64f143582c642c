package io.mortise.benchmarks.cases;

import java.util.List;
import java.util.stream.Collectors;

/** All cases, in the order in which they run. */
public final class Cases {
  private static final List<BenchmarkCase> ALL =
      List.of(
          new Uncontended(),
          new HotThreads(),
          new HotProcesses(),
          new Crowd(),
          new Readers(),
          new ReadersMany(),
          new Quorum(),
          new Multi(),
          new Renewals(),
          new Waiters(),
          new Footprint(),
          new Observability());

  private Cases() {}

  /** Returns all cases. */
  public static List<BenchmarkCase> all() {
    return ALL;
  }

  /**
   * Returns the case of that name.
   *
   * @throws IllegalArgumentException if there is none; the message has all names
   */
  public static BenchmarkCase named(String name) {
    return ALL.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no case '%s'; there are %s"
                        .formatted(
                            name,
                            ALL.stream()
                                .map(BenchmarkCase::name)
                                .collect(Collectors.joining(", ")))));
  }
}
