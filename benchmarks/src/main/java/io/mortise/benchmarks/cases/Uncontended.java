package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.worker.BenchmarkTask;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Each thread locks its own name. */
final class Uncontended implements BenchmarkCase {
  @Override
  public String name() {
    return "uncontended";
  }

  @Override
  public String description() {
    return "lock and unlock, a name for each thread; 1, 8, 64 threads; plain, fair, write, read";
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(5);
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(1);
    for (MeasuredLock kind :
        List.of(MeasuredLock.PLAIN, MeasuredLock.FAIR, MeasuredLock.WRITE, MeasuredLock.READ)) {
      for (int threads : List.of(1, 8, 64)) {
        String label = "%s, %d".formatted(kind.label(), threads);
        setup.add(
            label,
            Map.of("lock", kind.label()),
            library ->
                BenchmarkTask.own(
                    label,
                    kind,
                    List.of("%s:%s".formatted(library.label(), kind.label())),
                    threads),
            1,
            ServerProbe.PROCESSOR,
            null);
      }
    }
    return setup;
  }
}
