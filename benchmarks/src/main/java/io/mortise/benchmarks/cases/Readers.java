package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.WorkerTask;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Many threads read one catalogue, and now and then one of them writes. */
final class Readers implements BenchmarkCase {
  private static final int THREADS = 64;
  private static final double NOBODY = 0;
  private static final double ONE_PER_CENT = 0.01;

  @Override
  public String name() {
    return "readers";
  }

  @Override
  public String about() {
    return "64 threads reading one catalogue, with and without 1 % of writers";
  }

  @Override
  public Figure figure() {
    return Figure.OPS;
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    SharedServerSetup stage = SharedServerSetup.open(1);
    for (double share : List.of(NOBODY, ONE_PER_CENT)) {
      String label = "%.0f %% write".formatted(share * 100);
      Map<String, Object> traits = new LinkedHashMap<>();
      traits.put("lock", LockKind.READ.label());
      traits.put("writers_percent", share * 100);
      stage.add(
          label,
          traits,
          subject ->
              new WorkerTask(
                  label,
                  LockKind.READ,
                  List.of("%s:catalogue:%.0f".formatted(subject.label(), share * 100)),
                  NameSharing.THREADS,
                  THREADS,
                  0,
                  share,
                  share > 0 ? WorkerTask.Latency.WAIT : WorkerTask.Latency.CYCLE,
                  null),
          null);
    }
    return stage;
  }
}
