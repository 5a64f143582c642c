package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Holds;
import io.mortise.benchmarks.locks.LockLibrary;
import java.time.Duration;
import java.util.Map;

/** Many locks held by one process. */
final class HoldManyTask implements AutoCloseable {
  private final Holds holds;

  HoldManyTask(LockLibrary subject, String uri, WorkerRequest.Take order) {
    holds = Holds.open(subject, uri, Duration.ofMillis(order.leaseMillis()));
    try {
      holds.take(order.prefix(), order.holds());
    } catch (RuntimeException | Error e) {
      holds.close();
      throw e;
    }
  }

  /** Does nothing for a time but what the renewal does. */
  Report keep(long millis) throws InterruptedException {
    long cpu = ProcessorTime.nanos();
    long start = System.nanoTime();
    Thread.sleep(millis);
    long nanos = System.nanoTime() - start;
    cpu = ProcessorTime.nanos() - cpu;
    return Report.of(nanos, cpu, Map.of());
  }

  /** How many are lost. */
  Report count() {
    return Report.of(0, 0, Map.of("lost", (double) holds.lost()));
  }

  @Override
  public void close() {
    holds.close();
  }
}
