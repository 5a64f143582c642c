package io.mortise.benchmarks.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How long this process has been on a processor. */
final class ProcessorTime {
  private ProcessorTime() {}

  /** All threads together, those of the JVM too. */
  static long nanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
