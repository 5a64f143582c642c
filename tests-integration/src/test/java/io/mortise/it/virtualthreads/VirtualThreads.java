package io.mortise.it.virtualthreads;

import io.mortise.it.support.TestThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Virtual threads, by reflection: the tests are compiled for Java 17. */
final class VirtualThreads {
  private VirtualThreads() {}

  /** Returns threads of a test that are virtual. */
  static TestThreads start() throws ReflectiveOperationException {
    return new TestThreads(
        (ExecutorService)
            Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
  }

  static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
    return (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
  }
}
