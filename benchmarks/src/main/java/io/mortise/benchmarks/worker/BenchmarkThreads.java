package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.measure.Latencies;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All threads of one {@link WorkerTask}. */
final class BenchmarkThreads {
  private final WorkerTask work;
  private final List<BenchmarkThread> cyclists = new ArrayList<>();

  BenchmarkThreads(Locks locks, WorkerTask work) {
    this.work = work;
    String file = work.board();
    SharedMemoryCounter board = file == null ? null : SharedMemoryCounter.map(Path.of(file));
    for (int thread = 0; thread < work.threads(); thread++) {
      cyclists.add(new BenchmarkThread(locks, work, thread, board));
    }
  }

  /** A round. */
  Report ride(long startNanos, long nanos) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    long cpu = ProcessorTime.nanos();
    for (BenchmarkThread cyclist : cyclists) {
      Thread thread = new Thread(() -> cyclist.ride(startNanos, nanos), work.id());
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    cpu = ProcessorTime.nanos() - cpu;
    Latencies latencies = new Latencies();
    Latencies handOvers = new Latencies();
    for (BenchmarkThread cyclist : cyclists) {
      latencies.add(cyclist.latencies());
      handOvers.add(cyclist.handOvers());
    }
    long end =
        cyclists.stream()
            .map(BenchmarkThread::endNanos)
            .max(Comparator.comparingLong(each -> each - startNanos))
            .orElse(startNanos);
    return new Report(
        cyclists.stream().mapToLong(BenchmarkThread::cycles).sum(),
        end - startNanos,
        cyclists.stream().mapToLong(BenchmarkThread::cycles).min().orElse(0),
        cyclists.stream().mapToLong(BenchmarkThread::errors).sum(),
        firstError(),
        cpu,
        latencies.encode(),
        work.board() == null ? null : handOvers.encode(),
        Map.of());
  }

  private @Nullable String firstError() {
    return cyclists.stream()
        .map(BenchmarkThread::error)
        .filter(error -> error != null)
        .findFirst()
        .orElse(null);
  }

  void close() {
    cyclists.forEach(BenchmarkThread::close);
  }
}
