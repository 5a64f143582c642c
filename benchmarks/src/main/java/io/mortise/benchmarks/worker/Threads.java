package io.mortise.benchmarks.worker;

import java.lang.reflect.InvocationTargetException;

/** Starts threads; virtual ones by reflection, since this is compiled for Java 17. */
public final class Threads {
  private Threads() {}

  /** Whether this JVM has virtual threads. */
  public static boolean haveVirtual() {
    return Runtime.version().feature() >= 21;
  }

  /** Starts a daemon thread. */
  static Thread start(boolean virtual, Runnable task) {
    if (virtual) {
      try {
        return (Thread)
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
      } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
        throw new IllegalStateException("virtual threads need a JDK of 21 or later", e);
      }
    }
    Thread thread = new Thread(task, "waiter");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
