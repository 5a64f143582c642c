package io.mortise.it.virtualthreads;

import io.mortise.it.support.TestThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Virtual threads by reflection: this is compiled for Java 17. */
final class VirtualThreads {
  private VirtualThreads() {}

  /** A crew with a virtual thread for each task. */
  static TestThreads crew() throws ReflectiveOperationException {
    return new TestThreads(
        (ExecutorService)
            Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
  }

  static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
    return (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
  }
}
