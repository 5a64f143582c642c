package io.mortise.connection.concurrent;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of a client. Whatever may block (a command, a listener of the user's) runs on one of
 * these, never on the scheduler's thread; they end after some idle seconds. Asynchronous waiters
 * have virtual threads where the JDK has them, because there may be thousands.
 */
public final class WorkerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
  private static final long IDLE_SECONDS = 5;

  /** Whose thread this is. */
  private static final ThreadLocal<@Nullable WorkerPool> OWN = new ThreadLocal<>();

  /** How a thread comes to be; tests have it fail. */
  @FunctionalInterface
  public interface Maker {
    Thread make(Runnable task, String name);
  }

  private final String name;
  private final Maker maker;

  /** Of whoever made the client, for listeners; not of whoever happened to need a thread first. */
  private final @Nullable ClassLoader context = Thread.currentThread().getContextClassLoader();

  private final ThreadPoolExecutor platform;
  private final ExecutorService waiters;

  public WorkerPool(String name) {
    this(name, WorkerPool::thread);
  }

  public WorkerPool(String name, Maker maker) {
    this.name = name;
    this.maker = maker;
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

  /**
   * Runs the task soon; drops it when the client is closed.
   *
   * @throws OutOfMemoryError if no thread can be started; the task was not taken
   */
  public void run(Runnable task) {
    try {
      platform.execute(tracked(task));
    } catch (RejectedExecutionException closed) {
      LOG.debug("client {} is closed; a background task was dropped", name);
    }
  }

  /** Runs the task soon; false when no thread can be had, or the client is closed. */
  public boolean tryRun(Runnable task) {
    try {
      platform.execute(tracked(task));
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError none) {
      return false;
    }
  }

  /**
   * Runs an asynchronous acquisition.
   *
   * @throws RejectedExecutionException if the client is closed
   */
  public Future<?> submitBlocking(Runnable task) {
    return waiters.submit(tracked(task));
  }

  private Runnable tracked(Runnable task) {
    return () -> {
      try {
        mark();
        task.run();
      } catch (Throwable e) { // an error too is told, and ends no thread
        LOG.error("a background task of client {} failed", name, e);
      } finally {
        OWN.remove();
      }
    };
  }

  /** Without memory for it the task runs all the same; only a listener that closes then waits. */
  private void mark() {
    try {
      OWN.set(this);
    } catch (OutOfMemoryError none) {
      LOG.debug("a thread of client {} does not know whose it is", name, none);
    }
  }

  /** A thread that keeps nothing of the one that starts it. */
  public static Thread thread(Runnable task, String name) {
    return new Thread(null, task, name, 0, false);
  }

  public ThreadFactory threads(String purpose) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread =
          maker.make(task, "mortise-%s-%s-%d".formatted(purpose, name, number.incrementAndGet()));
      thread.setDaemon(true);
      thread.setContextClassLoader(context);
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
  public void close(long withinNanos) {
    waiters.shutdown();
    platform.shutdown();
    if (OWN.get() == this) {
      return; // closed by a listener: it would wait for itself
    }
    boolean interrupted = Thread.interrupted();
    try {
      if (!platform.awaitTermination(withinNanos, TimeUnit.NANOSECONDS)) {
        LOG.warn("background tasks of client {} did not end in time", name);
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
