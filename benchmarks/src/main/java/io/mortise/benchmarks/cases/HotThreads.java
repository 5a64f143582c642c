package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.WorkerTask;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The threads of one process all want one name. */
final class HotThreads implements BenchmarkCase {
  @Override
  public String name() {
    return "hot-threads";
  }

  @Override
  public String about() {
    return "one name, 8 and 64 threads of one process; an empty section, and one of 100 µs";
  }

  @Override
  public Figure figure() {
    return Figure.OPS;
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    SharedServerSetup stage = SharedServerSetup.open(1);
    for (int micros : List.of(0, 100)) {
      for (int threads : List.of(8, 64)) {
        String label = "%d, %d µs".formatted(threads, micros);
        Map<String, Object> traits = new LinkedHashMap<>();
        traits.put("lock", LockKind.PLAIN.label());
        traits.put("section_us", micros);
        stage.add(
            label,
            traits,
            subject ->
                new WorkerTask(
                    label,
                    LockKind.PLAIN,
                    List.of("%s:hot:%d:%d".formatted(subject.label(), threads, micros)),
                    NameSharing.THREADS,
                    threads,
                    micros,
                    0,
                    WorkerTask.Latency.WAIT,
                    null),
            null);
      }
    }
    return stage;
  }
}
