package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.measure.Latencies;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All threads of one {@link Work}. */
final class Peloton {
  private final Work work;
  private final List<Cyclist> cyclists = new ArrayList<>();

  Peloton(Locks locks, Work work) {
    this.work = work;
    String file = work.board();
    Board board = file == null ? null : Board.map(Path.of(file));
    for (int thread = 0; thread < work.threads(); thread++) {
      cyclists.add(new Cyclist(locks, work, thread, board));
    }
  }

  /** A round. */
  Report ride(long startNanos, long nanos) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    long cpu = ProcessorTime.nanos();
    for (Cyclist cyclist : cyclists) {
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
    for (Cyclist cyclist : cyclists) {
      latencies.add(cyclist.latencies());
      handOvers.add(cyclist.handOvers());
    }
    long end =
        cyclists.stream()
            .map(Cyclist::endNanos)
            .max(Comparator.comparingLong(each -> each - startNanos))
            .orElse(startNanos);
    return new Report(
        cyclists.stream().mapToLong(Cyclist::cycles).sum(),
        end - startNanos,
        cyclists.stream().mapToLong(Cyclist::cycles).min().orElse(0),
        cyclists.stream().mapToLong(Cyclist::errors).sum(),
        firstError(),
        cpu,
        latencies.encode(),
        work.board() == null ? null : handOvers.encode(),
        Map.of());
  }

  private @Nullable String firstError() {
    return cyclists.stream()
        .map(Cyclist::error)
        .filter(error -> error != null)
        .findFirst()
        .orElse(null);
  }

  void close() {
    cyclists.forEach(Cyclist::close);
  }
}
