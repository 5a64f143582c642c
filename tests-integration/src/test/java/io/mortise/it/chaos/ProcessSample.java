package io.mortise.it.chaos;

import com.sun.management.UnixOperatingSystemMXBean;
import io.mortise.it.support.HeapHistogram;
import java.lang.management.ManagementFactory;

/** What this JVM has in use at a moment. */
final class ProcessSample {
  private ProcessSample() {}

  /** Collects garbage, and returns a line of {@link Metric}s: {@code sample THREADS=12 ...}. */
  static String take() {
    System.gc(); // what a cleaner is to find is found by the first of two collections
    HeapHistogram heap = HeapHistogram.count();
    long usedBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    long files =
        ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
            ? system.getOpenFileDescriptorCount()
            : 0;
    return "sample %s=%d %s=%d %s=%d %s=%d"
        .formatted(
            Metric.HEAP_KIB,
            usedBytes / 1024,
            Metric.OBJECTS,
            heap.ofClasses(ProcessSample::isMortise),
            Metric.THREADS,
            ManagementFactory.getThreadMXBean().getThreadCount(),
            Metric.FILES,
            files);
  }

  private static boolean isMortise(String name) {
    return name.startsWith("io.mortise.")
        && !name.startsWith("io.mortise.it.")
        && !name.startsWith("io.mortise.testkit.");
  }
}
