package io.mortise.benchmarks;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.Settings;
import io.mortise.benchmarks.cases.Workload;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.ContestResult;
import io.mortise.benchmarks.measure.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Gives everybody a turn, and again: A B C A B C. In each round all contests of a case have their
 * turns, so that what else the machine does meanwhile touches all of them alike.
 */
public final class Benchmark {
  private final Settings settings;
  private final Function<String, Progress> progresses;

  /**
   * A benchmark.
   *
   * @param progresses makes the progress of a case, by its name
   */
  public Benchmark(Settings settings, Function<String, Progress> progresses) {
    this.settings = settings;
    this.progresses = progresses;
  }

  /** Runs one case. */
  public List<ContestResult> run(BenchmarkCase each) throws InterruptedException {
    try (Progress progress = progresses.apply(each.name());
        BenchmarkCase.Rig rig = each.open(settings)) {
      List<Workload> contests = rig.contests();
      int rounds = each.isLong() ? settings.longRounds() : settings.rounds();
      boolean warms = !each.isLong();
      long entrants = contests.stream().mapToLong(contest -> contest.entrants().size()).sum();
      progress.expect(entrants * (rounds + (warms ? 1 : 0)));
      if (warms) {
        round(contests, each.warmUp(settings), progress, "warm-up");
      }
      Map<Workload, Map<LockLibrary, List<Sample>>> samples = new LinkedHashMap<>();
      for (int round = 1; round <= rounds; round++) {
        String title = "round %d of %d".formatted(round, rounds);
        round(contests, settings.turn(), progress, title)
            .forEach(
                (contest, its) ->
                    its.forEach(
                        (subject, sample) ->
                            samples
                                .computeIfAbsent(contest, c -> new EnumMap<>(LockLibrary.class))
                                .computeIfAbsent(subject, s -> new ArrayList<>())
                                .add(sample)));
      }
      return results(each, samples);
    }
  }

  private static Map<Workload, Map<LockLibrary, Sample>> round(
      List<Workload> contests, Duration time, Progress progress, String title)
      throws InterruptedException {
    Map<Workload, Map<LockLibrary, Sample>> samples = new LinkedHashMap<>();
    for (Workload contest : contests) {
      Map<LockLibrary, Sample> its = new EnumMap<>(LockLibrary.class);
      for (Map.Entry<LockLibrary, Workload.Entrant> entrant : contest.entrants().entrySet()) {
        progress.turn("%s: %s, %s".formatted(title, contest.label(), entrant.getKey().label()));
        its.put(entrant.getKey(), entrant.getValue().run(time));
        progress.done();
      }
      samples.put(contest, its);
    }
    return samples;
  }

  private static List<ContestResult> results(
      BenchmarkCase each, Map<Workload, Map<LockLibrary, List<Sample>>> samples) {
    Map<String, ContestResult> results = new HashMap<>();
    List<ContestResult> inOrder = new ArrayList<>();
    samples.forEach(
        (contest, its) -> {
          String baseline = contest.baseline();
          ContestResult result =
              new ContestResult(
                  each.name(), contest, its, baseline == null ? null : results.get(baseline));
          results.put(contest.label(), result);
          inOrder.add(result);
        });
    return inOrder;
  }
}
