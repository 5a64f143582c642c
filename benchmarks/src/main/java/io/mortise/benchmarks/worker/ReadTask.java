package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Holds;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.Section;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A client with a short lease, which it renews while it holds one lock for reading. */
final class ReadTask {
  private final Holds client;
  private @Nullable Section section;

  ReadTask(LockLibrary library, String uri, BenchmarkRequest.Read request) {
    client = library.openHolds(uri, Duration.ofMillis(request.leaseMillis()));
  }

  void begin(String name) {
    Section entered = client.section(MeasuredLock.READ, name);
    entered.enter();
    section = entered;
  }

  /** Leaves; a lease that was lost is an error of the report. */
  WorkerReport end() {
    Section entered = section;
    section = null;
    try {
      if (entered != null) {
        entered.leave();
      }
      return WorkerReport.of(0, 0, Map.of());
    } catch (RuntimeException e) {
      return new WorkerReport(0, 0, 0, 1, e.toString(), 0, null, null, Map.of());
    }
  }
}
