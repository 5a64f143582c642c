package io.mortise.benchmarks.worker;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.benchmarks.locks.Holds;
import io.mortise.benchmarks.locks.LockLibrary;
import java.time.Duration;
import java.util.Map;

/** Many locks that one process holds. */
final class HoldManyTask {
  private final Holds holds;

  HoldManyTask(LockLibrary library, String uri, WorkerRequest.Take request) {
    holds = library.openHolds(uri, Duration.ofMillis(request.leaseMillis()));
    holds.take(request.prefix(), request.holds());
  }

  /** Measures for a time, in which only the renewal works: the wait is the measuring window. */
  Report keep(long millis) {
    long cpu = ProcessorTime.nanos();
    long start = System.nanoTime();
    Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(millis));
    long nanos = System.nanoTime() - start;
    cpu = ProcessorTime.nanos() - cpu;
    return Report.of(nanos, cpu, Map.of());
  }

  /** Counts the holds that are lost. */
  Report count() {
    return Report.of(0, 0, Map.of("lost", (double) holds.lost()));
  }
}
