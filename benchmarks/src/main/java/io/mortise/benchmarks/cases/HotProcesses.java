package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.SharedMemoryCounter;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** All threads of several processes lock one name. */
final class HotProcesses implements BenchmarkCase {
  private static final int PROCESSES = 4;
  private static final int THREADS = 4;

  @Override
  public String name() {
    return "hot-processes";
  }

  @Override
  public String description() {
    return "one name, 4 processes of 4 threads; plain and fair; hand-off, and the share of each process";
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(3);
  }

  /** A process has a quarter of the cycles, and a hand-off is slow: a second has few of them. */
  @Override
  public Duration warmUp(BenchmarkSettings settings) {
    return settings.quick() ? settings.warmUp() : settings.warmUp().multipliedBy(12);
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(PROCESSES);
    for (MeasuredLock kind : List.of(MeasuredLock.PLAIN, MeasuredLock.FAIR)) {
      setup
          .server()
          .command(
              "RPUSH", ListSection.key(nameOf(LockLibrary.BARE_COMMANDS, kind)), "the only one");
      setup.add(
          kind.label(),
          Map.of("lock", kind.label()),
          library ->
              new BenchmarkTask(
                  kind.label(),
                  kind,
                  List.of(nameOf(library, kind)),
                  NameSharing.PROCESSES,
                  THREADS,
                  0,
                  0,
                  BenchmarkTask.Latency.WAIT,
                  SharedMemoryCounter.newFile().toString()),
          null);
    }
    return setup;
  }

  private static String nameOf(LockLibrary library, MeasuredLock kind) {
    return "%s:hot:%s".formatted(library.label(), kind.label());
  }
}
