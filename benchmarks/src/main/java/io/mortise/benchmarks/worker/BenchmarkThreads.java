package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.measure.Latencies;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * All threads of one {@link BenchmarkTask}.
 *
 * <p><b>Threads.</b> Confined to the thread that reads the requests of the process. It starts and
 * joins the threads of a round, which orders it and them.
 */
final class BenchmarkThreads {
  private final BenchmarkTask work;
  private final List<BenchmarkThread> threads = new ArrayList<>();

  /**
   * The threads of a task.
   *
   * @param clients the client of each thread
   */
  BenchmarkThreads(IntFunction<Locks> clients, BenchmarkTask work) {
    this.work = work;
    String file = work.counterFile();
    SharedMemoryCounter counter = file == null ? null : SharedMemoryCounter.map(Path.of(file));
    for (int thread = 0; thread < work.threads(); thread++) {
      threads.add(new BenchmarkThread(clients.apply(thread), work, thread, counter));
    }
  }

  /** Runs one round. */
  WorkerReport run(long startNanos, long nanos) throws InterruptedException {
    long cpu = ProcessorTime.nanos();
    List<Thread> running = new ArrayList<>();
    for (BenchmarkThread each : threads) {
      Thread thread = new Thread(() -> each.run(startNanos, nanos), work.id());
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join();
    }
    cpu = ProcessorTime.nanos() - cpu;
    Latencies latencies = new Latencies();
    Latencies handOffs = new Latencies();
    Latencies entries = new Latencies();
    Latencies exits = new Latencies();
    for (BenchmarkThread each : threads) {
      entries.add(each.entries());
      exits.add(each.exits());
      latencies.add(each.latencies());
      handOffs.add(each.handOffs());
    }
    long end =
        threads.stream()
            .map(BenchmarkThread::endNanos)
            .max(Comparator.comparingLong(each -> each - startNanos))
            .orElse(startNanos);
    return new WorkerReport(
        threads.stream().mapToLong(BenchmarkThread::cycles).sum(),
        end - startNanos,
        threads.stream().mapToLong(BenchmarkThread::cycles).min().orElse(0),
        threads.stream().mapToLong(BenchmarkThread::errors).sum(),
        firstError(),
        cpu,
        latencies.encode(),
        work.counterFile() == null ? null : handOffs.encode(),
        parts(entries, exits));
  }

  private static Map<String, Double> parts(Latencies entries, Latencies exits) {
    return entries.count() == 0
        ? Map.of()
        : Map.of(
            "entry_p50_us",
            entries.micros(50),
            "entry_p99_us",
            entries.micros(99),
            "exit_p50_us",
            exits.micros(50),
            "exit_p99_us",
            exits.micros(99));
  }

  private @Nullable String firstError() {
    return threads.stream()
        .map(BenchmarkThread::error)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }
}
