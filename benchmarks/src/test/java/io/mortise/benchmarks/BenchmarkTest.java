package io.mortise.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.benchmarks.cases.BenchmarkCase;
import io.mortise.benchmarks.cases.BenchmarkSettings;
import io.mortise.benchmarks.cases.Workload;
import io.mortise.benchmarks.cases.WorkloadResult;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.report.CaseProgress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rounds of a case, without servers. */
class BenchmarkTest {
  private final List<LockLibrary> turns = new ArrayList<>();
  private List<Integer> failingTurns = List.of();
  private int openCases;

  @Test
  void eachRoundBeginsWithAnotherLibrary() throws Exception {
    run(settings(), LockLibrary.values());
    List<LockLibrary> inOrder = List.of(LockLibrary.values());
    int each = inOrder.size();
    assertEquals(inOrder, turns.subList(0, each), "the warm-up");
    for (int round = 0; round < 5; round++) {
      List<LockLibrary> its = turns.subList(each * (round + 1), each * (round + 2));
      assertEquals(inOrder.get(round % each), its.get(0));
      assertEquals(inOrder, its.stream().sorted().toList());
    }
  }

  @Test
  void everyLibraryHasASampleOfEachRoundAndTheCaseIsClosed() throws Exception {
    WorkloadResult result = run(settings(), LockLibrary.MORTISE, LockLibrary.REDISSON).get(0);
    assertEquals(5, result.of(LockLibrary.MORTISE).size());
    assertEquals(5, result.of(LockLibrary.REDISSON).size());
    assertEquals(0, openCases);
  }

  /** It may be longer than all rounds together. */
  @Test
  void aComplaintOfTheWarmUpCounts() throws Exception {
    failingTurns = List.of(0);
    WorkloadResult result = run(settings(), LockLibrary.MORTISE).get(0);
    assertEquals(Optional.of("warm-up: it broke"), result.complaint(LockLibrary.MORTISE));
    assertEquals(Optional.empty(), result.complaint(LockLibrary.REDISSON));
  }

  @Test
  void aComplaintSaysHowManyRoundsHaveOne() throws Exception {
    failingTurns = List.of(0, 2, 5);
    WorkloadResult result = run(settings(), LockLibrary.MORTISE).get(0);
    assertEquals(Optional.of("2 of 5 rounds: it broke"), result.complaint(LockLibrary.MORTISE));
  }

  private List<WorkloadResult> run(BenchmarkSettings settings, LockLibrary... libraries)
      throws InterruptedException {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : libraries) {
      contenders.put(library, time -> turn(library));
    }
    Workload workload = new Workload("a workload", Map.of(), 1, 1, contenders, null);
    return new Benchmark(settings, name -> new Silence()).run(new OneWorkload(workload));
  }

  private Sample turn(LockLibrary library) {
    String complaint = failingTurns.contains(turns.size()) ? "it broke" : null;
    turns.add(library);
    return new Sample(1, new Latencies(), 1, Map.of(), complaint);
  }

  private static BenchmarkSettings settings() {
    return BenchmarkSettings.quick(5, List.of());
  }

  private final class OneWorkload implements BenchmarkCase {
    private final Workload workload;

    OneWorkload(Workload workload) {
      this.workload = workload;
    }

    @Override
    public String name() {
      return "a case";
    }

    @Override
    public String description() {
      return "of this test";
    }

    @Override
    public CaseSetup open(BenchmarkSettings settings) {
      openCases++;
      return new CaseSetup() {
        @Override
        public List<Workload> workloads() {
          return List.of(workload);
        }

        @Override
        public void close() {
          openCases--;
        }
      };
    }
  }

  private record Silence() implements CaseProgress {
    @Override
    public void expect(long turns) {}

    @Override
    public void turn(String what) {}

    @Override
    public void done() {}

    @Override
    public void close() {}
  }
}
