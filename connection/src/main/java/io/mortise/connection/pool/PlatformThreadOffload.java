package io.mortise.connection.pool;

import io.mortise.connection.concurrent.WorkerPool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads on which virtual ones have their commands run.
 *
 * <p>An interrupt of a virtual thread closes the socket that it reads from (of a platform thread it
 * does not). A command would then be without an answer although Redis is well: nobody would know
 * whether the lock was granted, and a connection would be lost with every cancelled task. So a
 * virtual thread, once it has a connection, leaves it to one of these, and waits through its
 * interrupts. There are no more of them than connections, and none when nobody is virtual.
 */
public final class PlatformThreadOffload implements AutoCloseable {
  private static final long IDLE_SECONDS = 5;
  private static final @Nullable Method IS_VIRTUAL = isVirtual();

  private final AtomicInteger number = new AtomicInteger();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          this::newThread);

  private Thread newThread(Runnable task) {
    Thread thread = WorkerPool.thread(task, "mortise-command-" + number.incrementAndGet());
    thread.setContextClassLoader(PlatformThreadOffload.class.getClassLoader());
    thread.setDaemon(true);
    return thread;
  }

  /** Whether the current thread must not use a socket itself. */
  public static boolean isRequired() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException("Thread.isVirtual() cannot be called", e);
    }
  }

  /**
   * Has the command run and waits for its end, whatever interrupts there are meanwhile. What it
   * throws is thrown here.
   */
  public <T> T run(Supplier<T> command) {
    FutureTask<T> task = new FutureTask<>(command::get);
    try {
      threads.execute(task);
    } catch (RejectedExecutionException closed) {
      task.run();
    }
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException thrown) {
        throw thrown;
      }
      if (e.getCause() instanceof Error thrown) {
        throw thrown;
      }
      throw new IllegalStateException("a command failed in an unknown way", e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static @Nullable Method isVirtual() {
    try {
      return Thread.class.getMethod("isVirtual");
    } catch (NoSuchMethodException before21) {
      return null;
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
