package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.WorkerTask;
import java.util.List;

/** All threads of one process lock one name. */
final class HotThreads implements BenchmarkCase {
  @Override
  public String name() {
    return "hot-threads";
  }

  @Override
  public String description() {
    return "one name, 8 and 64 threads of one process; an empty section, and one of 100 µs";
  }

  @Override
  public CaseSetup open(Settings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(1);
    for (int micros : List.of(0, 100)) {
      for (int threads : List.of(8, 64)) {
        String label = "%d, %d µs".formatted(threads, micros);
        setup.add(
            label,
            ImmutableMap.of("lock", LockKind.PLAIN.label(), "section_us", micros),
            library ->
                new WorkerTask(
                    label,
                    LockKind.PLAIN,
                    List.of("%s:hot:%d:%d".formatted(library.label(), threads, micros)),
                    NameSharing.THREADS,
                    threads,
                    micros,
                    0,
                    WorkerTask.Latency.WAIT,
                    null),
            null);
      }
    }
    return setup;
  }
}
