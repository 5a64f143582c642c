package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.worker.WorkerTask;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Several names on one server, all or none. */
final class Multi implements BenchmarkCase {
  private static final List<Integer> NAMES = List.of(2, 10);

  @Override
  public String name() {
    return "multi";
  }

  @Override
  public String about() {
    return "lock and unlock of 2 and of 10 names on one server, one thread";
  }

  @Override
  public Figure figure() {
    return Figure.OPS;
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    SharedServerSetup stage = SharedServerSetup.open(1);
    for (int count : NAMES) {
      String label = label(count);
      Map<String, Object> traits = new LinkedHashMap<>();
      traits.put("lock", LockKind.MULTI.label());
      traits.put("names", count);
      stage.add(
          label,
          traits,
          subject ->
              WorkerTask.own(
                  label,
                  LockKind.MULTI,
                  IntStream.range(0, count)
                      .mapToObj(i -> "%s:multi:%d:%d".formatted(subject.label(), count, i))
                      .toList(),
                  1),
          count == NAMES.get(0) ? null : label(NAMES.get(0)));
    }
    return stage;
  }

  private static String label(int count) {
    return count + " names";
  }
}
