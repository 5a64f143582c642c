package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.BenchmarkTask;
import java.time.Duration;
import java.util.List;

/** All threads of one process lock one name. */
final class HotThreads implements BenchmarkCase {
  private static final List<MeasuredLock> KINDS =
      List.of(MeasuredLock.PLAIN, MeasuredLock.FAIR, MeasuredLock.WRITE);
  private static final List<Integer> THREADS = List.of(1, 2, 8, 32, 64);
  private static final List<Integer> QUICK_THREADS = List.of(1, 8);
  private static final int SECTION_MICROS = 100;
  private static final List<Integer> THREADS_WITH_SECTION = List.of(8, 64);
  private static final Duration QUICK_TURN = Duration.ofMillis(50);
  private static final Duration QUICK_WARM_UP = Duration.ofMillis(100);

  @Override
  public String name() {
    return "hot-threads";
  }

  @Override
  public String description() {
    return "one name, 1 to 64 threads of one process; plain, fair, write; plain with 100 µs inside";
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(7);
  }

  @Override
  public Duration turn(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_TURN : settings.turn();
  }

  @Override
  public Duration warmUp(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_WARM_UP : settings.warmUp();
  }

  @Override
  public List<Growth> growth() {
    return List.of(
        new Growth("threads", "threads", "series", figure()),
        new Growth(
            "threads",
            "threads",
            "series",
            new Figure("p99_us", "time until inside, 99th percentile, µs")));
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup = SharedServerSetup.open(1);
    for (MeasuredLock kind : KINDS) {
      for (int threads : settings.quick() ? QUICK_THREADS : THREADS) {
        add(setup, kind, threads, 0);
      }
    }
    if (!settings.quick()) {
      for (int threads : THREADS_WITH_SECTION) {
        add(setup, MeasuredLock.PLAIN, threads, SECTION_MICROS);
      }
    }
    return setup;
  }

  private static void add(SharedServerSetup setup, MeasuredLock kind, int threads, int micros) {
    String label = "%s, %d, %d µs".formatted(kind.label(), threads, micros);
    setup.add(
        label,
        ImmutableMap.of(
            "lock",
            kind.label(),
            "section_us",
            micros,
            "series",
            micros == 0 ? kind.label() : "%s, %d µs".formatted(kind.label(), micros)),
        library ->
            new BenchmarkTask(
                label,
                kind,
                List.of(
                    "%s:hot:%s:%d:%d".formatted(library.label(), kind.label(), threads, micros)),
                NameSharing.THREADS,
                threads,
                micros,
                0,
                BenchmarkTask.Latency.WAIT,
                null),
        null);
  }
}
