package io.mortise.benchmarks;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.BenchmarkSettings;
import io.mortise.benchmarks.cases.Workload;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.report.CaseProgress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Runs the rounds of a case. In each round all libraries have a turn with all workloads, so that
 * other load of the machine affects all of them alike. Each round begins with another library (A B
 * C, B C A, C A B), so that none always follows the same one: a JVM that has just had its turn may
 * still compile or collect.
 */
public final class Benchmark {
  private final BenchmarkSettings settings;
  private final Function<String, CaseProgress> progresses;

  /**
   * A benchmark.
   *
   * @param progresses makes the progress of a case, by its name
   */
  public Benchmark(BenchmarkSettings settings, Function<String, CaseProgress> progresses) {
    this.settings = settings;
    this.progresses = progresses;
  }

  /** Runs one case. */
  public List<WorkloadResult> run(BenchmarkCase each) throws InterruptedException {
    try (CaseProgress progress = progresses.apply(each.name());
        BenchmarkCase.CaseSetup setup = each.open(settings)) {
      List<Workload> workloads = setup.workloads();
      int rounds = each.rounds(settings);
      boolean warms = !each.isLong();
      long contenders =
          workloads.stream().mapToLong(workload -> workload.contenders().size()).sum();
      progress.expect(contenders * (rounds + (warms ? 1 : 0)));
      Map<Workload, Map<LockLibrary, Sample>> warmUp =
          warms ? round(workloads, 0, each.warmUp(settings), progress, "warm-up") : Map.of();
      Map<Workload, Map<LockLibrary, List<Sample>>> samples = new LinkedHashMap<>();
      for (int round = 1; round <= rounds; round++) {
        String title = "round %d of %d".formatted(round, rounds);
        round(workloads, round - 1, each.turn(settings), progress, title)
            .forEach(
                (workload, its) ->
                    its.forEach(
                        (library, sample) ->
                            samples
                                .computeIfAbsent(workload, c -> new EnumMap<>(LockLibrary.class))
                                .computeIfAbsent(library, s -> new ArrayList<>())
                                .add(sample)));
      }
      return results(each, warmUp, samples);
    }
  }

  private static Map<Workload, Map<LockLibrary, Sample>> round(
      List<Workload> workloads, int first, Duration time, CaseProgress progress, String title)
      throws InterruptedException {
    Map<Workload, Map<LockLibrary, Sample>> samples = new LinkedHashMap<>();
    for (Workload workload : workloads) {
      Map<LockLibrary, Sample> its = new EnumMap<>(LockLibrary.class);
      for (Map.Entry<LockLibrary, Workload.Contender> contender : inOrder(workload, first)) {
        progress.turn("%s: %s, %s".formatted(title, workload.label(), contender.getKey().label()));
        its.put(contender.getKey(), contender.getValue().run(time));
        progress.done();
      }
      samples.put(workload, its);
    }
    return samples;
  }

  /** The contenders, beginning with that of an index. */
  private static List<Map.Entry<LockLibrary, Workload.Contender>> inOrder(
      Workload workload, int first) {
    List<Map.Entry<LockLibrary, Workload.Contender>> contenders =
        new ArrayList<>(workload.contenders().entrySet());
    if (!contenders.isEmpty()) {
      Collections.rotate(contenders, -(first % contenders.size()));
    }
    return contenders;
  }

  private static List<WorkloadResult> results(
      BenchmarkCase each,
      Map<Workload, Map<LockLibrary, Sample>> warmUp,
      Map<Workload, Map<LockLibrary, List<Sample>>> samples) {
    Map<String, WorkloadResult> results = new HashMap<>();
    List<WorkloadResult> inOrder = new ArrayList<>();
    samples.forEach(
        (workload, its) -> {
          String baseline = workload.baseline();
          WorkloadResult result =
              new WorkloadResult(
                  each.name(),
                  workload,
                  warmUp.getOrDefault(workload, Map.of()),
                  its,
                  baseline == null ? null : results.get(baseline));
          results.put(workload.label(), result);
          inOrder.add(result);
        });
    return inOrder;
  }
}
