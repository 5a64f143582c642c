package io.mortise.connection.pool;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.WorkerPool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads that run the commands of virtual threads.
 *
 * <p>An interrupt of a virtual thread closes the socket that the thread reads from; an interrupt of
 * a platform thread does not. A command would then have no answer although Redis is well: the
 * client would not know whether the lock was granted, and every cancelled task would cost a
 * connection. So a virtual thread, once it has a connection, leaves the command to a platform
 * thread, and waits uninterruptibly. There are at most as many of these threads as connections, and
 * none without virtual threads.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class PlatformThreadOffload implements AutoCloseable {
  private static final @Nullable Method IS_VIRTUAL = isVirtual();

  private final AtomicInteger number = new AtomicInteger();
  private final ExecutorService threads = WorkerPool.cached(this::newThread);

  private Thread newThread(Runnable task) {
    return WorkerPool.daemonThread(task, "mortise-command-" + number.incrementAndGet());
  }

  /** Returns whether the current thread must not use a socket itself. */
  public static boolean isRequired() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(Thread.currentThread());
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException("Thread.isVirtual() cannot be called", e);
    }
  }

  /**
   * Runs the command on a platform thread and waits for its end. Throws what the command throws. An
   * interrupt does not end the wait; the interrupt status is restored afterwards.
   */
  @SuppressWarnings("NullAway") // the result is null only if that of the command is
  public <T> T run(Supplier<T> command) {
    FutureTask<T> task = new FutureTask<>(command::get);
    try {
      threads.execute(task);
    } catch (RejectedExecutionException closed) {
      task.run();
    }
    try {
      return Uninterruptibles.getUninterruptibly(task);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException thrown) {
        throw thrown;
      }
      if (e.getCause() instanceof Error thrown) {
        throw thrown;
      }
      throw new IllegalStateException("a command failed in an unknown way", e.getCause());
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
