package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.BenchmarkTask;
import java.util.List;

/** Many threads lock one name for reading, and a few of their cycles for writing. */
final class Readers implements BenchmarkCase {
  private static final int THREADS = 64;
  private static final double NOBODY = 0;
  private static final double ONE_PER_CENT = 0.01;

  @Override
  public String name() {
    return "readers";
  }

  @Override
  public String description() {
    return "64 threads reading one catalogue, with and without 1 % of writers";
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(1);
    for (double share : List.of(NOBODY, ONE_PER_CENT)) {
      String label = "%.0f %% write".formatted(share * 100);
      setup.add(
          label,
          ImmutableMap.of("lock", MeasuredLock.READ.label(), "writers_percent", share * 100),
          library ->
              new BenchmarkTask(
                  label,
                  MeasuredLock.READ,
                  List.of("%s:catalogue:%.0f".formatted(library.label(), share * 100)),
                  NameSharing.THREADS,
                  THREADS,
                  0,
                  share,
                  share > 0 ? BenchmarkTask.Latency.WAIT : BenchmarkTask.Latency.CYCLE,
                  null),
          null);
    }
    return setup;
  }
}
