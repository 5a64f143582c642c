package io.mortise.core.internal;

import io.mortise.core.internal.RedisNode.Reply;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads on which virtual ones have their commands run.
 *
 * <p>An interrupt of a virtual thread closes the socket that it reads from (of a platform thread it
 * does not). A command would then be without an answer although Redis is well: nobody would know
 * whether the lock was granted, and a connection would be lost with every cancelled task. So a
 * virtual thread leaves the socket to one of these, and waits for it through its interrupts. There
 * are no more of them than connections, and none when nobody is virtual.
 */
final class Carriers implements AutoCloseable {
  private static final long IDLE_SECONDS = 5;
  private static final @Nullable Method IS_VIRTUAL = isVirtual();

  private final ThreadPoolExecutor threads;

  /**
   * @param most how many commands run at a time
   */
  Carriers(int most) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "mortise-command-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** Whether the current thread must not touch a socket itself. */
  static boolean areNeeded() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException("Thread.isVirtual() cannot be called", e);
    }
  }

  /** Has the exchange run and waits for its end, whatever interrupts there are meanwhile. */
  Reply run(Callable<Reply> exchange) throws Fault {
    FutureTask<Reply> task = new FutureTask<>(exchange);
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
      if (e.getCause() instanceof Fault fault) {
        throw fault;
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
