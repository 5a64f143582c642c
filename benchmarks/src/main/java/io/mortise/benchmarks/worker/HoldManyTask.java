package io.mortise.benchmarks.worker;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.benchmarks.locks.Holds;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.Section;
import io.mortise.benchmarks.measure.Latencies;
import java.time.Duration;
import java.util.Map;

/** Many locks that one process holds. */
final class HoldManyTask {
  private final Holds holds;
  private final double heapBytesPerHold;

  HoldManyTask(LockLibrary library, String uri, BenchmarkRequest.Take request) {
    holds = library.openHolds(uri, Duration.ofMillis(request.leaseMillis()));
    // The fixed costs of a client are not those of a hold: it has locked before.
    Section warm = holds.section(MeasuredLock.PLAIN, request.prefix() + "warm");
    warm.enter();
    warm.leave();
    Heap before = Heap.count();
    holds.take(request.prefix(), request.holds());
    heapBytesPerHold = (double) (Heap.count().bytes() - before.bytes()) / request.holds();
  }

  /** What a hold takes, with its lock object and its name. */
  WorkerReport taken() {
    return WorkerReport.of(0, 0, Map.of("heap_bytes_per_hold", heapBytesPerHold));
  }

  /** Measures for a time, in which only the renewal works: the wait is the measuring window. */
  WorkerReport keep(long millis) {
    long cpu = ProcessorTime.nanos();
    long start = System.nanoTime();
    Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(millis));
    long nanos = System.nanoTime() - start;
    cpu = ProcessorTime.nanos() - cpu;
    return WorkerReport.of(nanos, cpu, Map.of());
  }

  /** Locks and unlocks one more name, by the same client, while it renews the others. */
  WorkerReport cycle(String name, long millis) {
    Section section = holds.section(MeasuredLock.PLAIN, name);
    Latencies latencies = new Latencies();
    long errors = 0;
    String error = null;
    long start = System.nanoTime();
    long now = start;
    do {
      try {
        section.enter();
        section.leave();
        latencies.add(System.nanoTime() - now);
      } catch (RuntimeException e) {
        errors++;
        error = error == null ? e.toString() : error;
      }
      now = System.nanoTime();
    } while (now - start < Duration.ofMillis(millis).toNanos());
    return new WorkerReport(
        latencies.count(), now - start, 0, errors, error, 0, latencies.encode(), null, Map.of());
  }

  /** Counts the holds that are lost. */
  WorkerReport count() {
    return WorkerReport.of(0, 0, Map.of("lost", (double) holds.lost()));
  }
}
