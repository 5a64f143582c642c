package io.mortise.benchmarks.worker;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The processor time of this process. */
final class ProcessorTime {
  private ProcessorTime() {}

  /** All threads together, those of the JVM too. */
  static long nanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
