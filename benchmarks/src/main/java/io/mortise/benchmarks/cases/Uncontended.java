package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.worker.WorkerTask;
import java.util.List;
import java.util.Map;

/** Each thread locks and unlocks a name of its own. */
final class Uncontended implements BenchmarkCase {
  @Override
  public String name() {
    return "uncontended";
  }

  @Override
  public String about() {
    return "lock and unlock of one's own name; 1, 8, 64 threads; plain, fair, write, read";
  }

  @Override
  public Figure figure() {
    return Figure.OPS;
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    SharedServerSetup stage = SharedServerSetup.open(1);
    for (LockKind kind : List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.WRITE, LockKind.READ)) {
      for (int threads : List.of(1, 8, 64)) {
        String label = "%s, %d".formatted(kind.label(), threads);
        stage.add(
            label,
            Map.of("lock", kind.label()),
            subject ->
                WorkerTask.own(
                    label,
                    kind,
                    List.of("%s:%s".formatted(subject.label(), kind.label())),
                    threads),
            null);
      }
    }
    return stage;
  }
}
