package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.worker.BenchmarkTask;
import java.util.List;
import java.util.stream.IntStream;

/** One thread locks several names on one server, all or none. */
final class Multi implements BenchmarkCase {
  private static final List<Integer> NAMES = List.of(2, 10, 100);

  @Override
  public String name() {
    return "multi";
  }

  @Override
  public String description() {
    return "lock and unlock of 2, 10 and 100 names on one server, one thread";
  }

  @Override
  public List<Growth> growth() {
    return List.of(
        new Growth(
            "names",
            "names",
            "lock",
            new Figure("redis_commands_per_op", "commands to lock and unlock all")),
        new Growth("names", "names", "lock", new Figure("p50_us", "lock and unlock, median, µs")));
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(1);
    for (int count : NAMES) {
      String label = label(count);
      setup.add(
          label,
          ImmutableMap.of("lock", MeasuredLock.MULTI.label(), "names", count),
          library ->
              BenchmarkTask.own(
                  label,
                  MeasuredLock.MULTI,
                  IntStream.range(0, count)
                      .mapToObj(i -> "%s:multi:%d:%d".formatted(library.label(), count, i))
                      .toList(),
                  1),
          count == NAMES.get(0) ? null : label(NAMES.get(0)));
    }
    return setup;
  }

  private static String label(int count) {
    return count + " names";
  }
}
