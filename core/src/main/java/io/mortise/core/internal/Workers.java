package io.mortise.core.internal;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of a client. Whatever may block (a command, a listener of the user's) runs on one of
 * these, never on the scheduler's thread; they end after some idle seconds. Asynchronous waiters
 * have virtual threads where the JDK has them, because there may be thousands.
 */
final class Workers implements AutoCloseable {
  private static final long IDLE_SECONDS = 5;

  private final String name;
  private final ThreadPoolExecutor platform;
  private final ExecutorService waiters;

  Workers(String name) {
    this.name = name;
    this.platform =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            threads("worker"));
    this.waiters = virtualOr(platform);
  }

  /** Runs the task soon; drops it when the client is closed. */
  void run(Runnable task) {
    try {
      platform.execute(
          () -> {
            try {
              task.run();
            } catch (RuntimeException e) {
              Engine.LOG.error("a background task of client {} failed", name, e);
            }
          });
    } catch (RejectedExecutionException closed) {
      Engine.LOG.debug("client {} is closed; a background task was dropped", name);
    }
  }

  /** Where asynchronous acquisitions wait. */
  ExecutorService waiters() {
    return waiters;
  }

  ThreadFactory threads(String purpose) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread =
          new Thread(task, "mortise-%s-%s-%d".formatted(purpose, name, number.incrementAndGet()));
      thread.setDaemon(true);
      return thread;
    };
  }

  private static ExecutorService virtualOr(ExecutorService platform) {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (NoSuchMethodException before21) {
      return platform;
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException("virtual threads cannot be started", e);
    }
  }

  /** Lets what runs come to its end, but not for longer than the time given, then interrupts it. */
  void close(long withinNanos) {
    waiters.shutdown();
    platform.shutdown();
    boolean interrupted = Thread.interrupted();
    try {
      if (!platform.awaitTermination(withinNanos, TimeUnit.NANOSECONDS)) {
        Engine.LOG.warn("background tasks of client {} did not end in time", name);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    waiters.shutdownNow();
    platform.shutdownNow();
  }
}
