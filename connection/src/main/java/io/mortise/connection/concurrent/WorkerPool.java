package io.mortise.connection.concurrent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker threads of a client. Everything that may block (a command, a listener of the user)
 * runs on one of them, never on the scheduler's thread. A worker ends after {@value #IDLE_SECONDS}
 * idle seconds. Asynchronous waiters run on virtual threads where the JDK has them, because there
 * may be thousands.
 *
 * <p><b>Threads.</b> Any thread may submit tasks, make threads, and close the pool; the executors
 * order that.
 */
public final class WorkerPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
  private static final long IDLE_SECONDS = 5;
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  /** The pool whose task the current thread runs. */
  private static final ThreadLocal<@Nullable WorkerPool> CURRENT_POOL = new ThreadLocal<>();

  /** Makes a thread; tests let it fail. */
  @FunctionalInterface
  public interface NamedThreadFactory {
    Thread newThread(Runnable task, String name);
  }

  private final String name;
  private final NamedThreadFactory threadFactory;

  /**
   * The class loader of the thread that made the client, for listeners; not that of the thread that
   * happened to need a worker first.
   */
  private final @Nullable ClassLoader contextClassLoader =
      Thread.currentThread().getContextClassLoader();

  private final ExecutorService platform;
  private final ExecutorService blockingTasks;

  public WorkerPool(String name) {
    this(name, WorkerPool::thread);
  }

  public WorkerPool(String name, NamedThreadFactory threadFactory) {
    this.name = name;
    this.threadFactory = threadFactory;
    this.platform = cached(threads("worker"));
    this.blockingTasks = executorOfBlockingTasks(Runtime.version().feature(), platform);
  }

  /**
   * Runs the task on a worker.
   *
   * @throws RejectedExecutionException if the client is closed; the task was not taken
   * @throws OutOfMemoryError if no thread can be started; the task was not taken
   */
  public void execute(Runnable task) {
    platform.execute(tracked(task));
  }

  /** Runs the task on a worker; returns false when there is none, or the client is closed. */
  public boolean tryRun(Runnable task) {
    try {
      execute(task);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError none) {
      return false;
    }
  }

  /** Runs an asynchronous acquisition, unless the client is closed. */
  public Future<?> submitBlocking(Runnable task) {
    return blockingTasks.submit(tracked(task));
  }

  private Runnable tracked(Runnable task) {
    return () -> {
      try {
        mark();
        task.run();
      } catch (Throwable e) { // an error too is logged, and ends no thread
        LOG.error("a background task of client {} failed", name, e);
      } finally {
        CURRENT_POOL.remove();
      }
    };
  }

  /**
   * Marks the thread as one of this pool. Without memory for the mark the task runs all the same; a
   * listener that closes the client then waits for itself until the time limit.
   */
  private void mark() {
    try {
      CURRENT_POOL.set(this);
    } catch (OutOfMemoryError none) {
      // No line of the log, which needs memory too: without it the task would not run.
    }
  }

  /** Returns an executor with as many threads as it has tasks; idle threads end soon. */
  public static ExecutorService cached(ThreadFactory threads) {
    return new ThreadPoolExecutor(
        0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
  }

  /** Returns a new thread that inherits nothing from the thread that starts it. */
  public static Thread thread(Runnable task, String name) {
    return new Thread(null, task, name, 0, false);
  }

  /** Returns a new daemon thread for tasks that run no code of the user. */
  public static Thread daemonThread(Runnable task, String name) {
    Thread thread = thread(task, name);
    thread.setContextClassLoader(WorkerPool.class.getClassLoader());
    thread.setDaemon(true);
    return thread;
  }

  public ThreadFactory threads(String purpose) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread =
          threadFactory.newThread(
              task, "mortise-%s-%s-%d".formatted(purpose, name, number.incrementAndGet()));
      thread.setDaemon(true);
      thread.setContextClassLoader(contextClassLoader);
      return thread;
    };
  }

  /**
   * Returns an executor of virtual threads, or the given one on a JDK without them. JDK 19 and 20
   * have the method as a preview, which throws unless it is enabled.
   *
   * @param javaFeature the version of the JDK, such as 21
   */
  static ExecutorService executorOfBlockingTasks(int javaFeature, ExecutorService platform) {
    if (javaFeature < FIRST_WITH_VIRTUAL_THREADS) {
      return platform;
    }
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("virtual threads cannot be started", e);
    }
  }

  /**
   * Lets running tasks end, those on virtual threads too, then interrupts them.
   *
   * @param leftNanos returns for how long they may still run
   */
  public void close(LongSupplier leftNanos) {
    blockingTasks.shutdown();
    platform.shutdown();
    if (CURRENT_POOL.get() == this) {
      return; // a listener closes the client: it would wait for itself
    }
    boolean interrupted = Thread.interrupted();
    try {
      if (!hasEnded(platform, leftNanos) || !hasEnded(blockingTasks, leftNanos)) {
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

  private static boolean hasEnded(ExecutorService executor, LongSupplier leftNanos)
      throws InterruptedException {
    return executor.awaitTermination(leftNanos.getAsLong(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    blockingTasks.shutdownNow();
    platform.shutdownNow();
  }
}
