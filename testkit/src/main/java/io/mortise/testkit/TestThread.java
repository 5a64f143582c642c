package io.mortise.testkit;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/**
 * A thread that runs the steps of a test one by one: a second owner of locks. All waits for it have
 * a limit.
 *
 * <p><b>Threads.</b> Any thread may start steps; they run in the order in which they were started.
 */
final class TestThread implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Set<Thread.State> BLOCKED =
      EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final ExecutorService executor;
  private final Thread thread;
  private volatile boolean busy;

  TestThread(String name) {
    executor =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread daemon = new Thread(task, name);
              daemon.setDaemon(true);
              return daemon;
            });
    thread = CompletableFuture.supplyAsync(Thread::currentThread, executor).join();
  }

  /** Begins a step. An interrupt that an earlier step has left is cleared before. */
  <T> Future<T> start(Callable<T> step) {
    return executor.submit(
        () -> {
          busy = true;
          try {
            return step.call();
          } finally {
            busy = false;
          }
        });
  }

  /** Does a step and waits for its result. An exception of the step is thrown here. */
  <T> T call(Callable<T> step) throws Exception {
    return result(start(step));
  }

  /** As {@link #call}, for a yes or no. */
  boolean ask(Callable<Boolean> step) throws Exception {
    return call(step);
  }

  /** As {@link #call}, without a result. */
  void run(Action step) throws Exception {
    call(
        () -> {
          step.run();
          return true;
        });
  }

  /** Waits for the result of a step; throws its exception. */
  static <T> T result(Future<T> step) throws Exception {
    try {
      return step.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("not done after " + LIMIT, e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Error error) {
        throw error;
      }
      if (cause instanceof Exception exception) {
        throw exception;
      }
      throw e;
    }
  }

  /** Waits until a step has begun and its thread waits for something. */
  void awaitBlocked() {
    Awaitility.await("thread '" + thread.getName() + "' to wait")
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(LIMIT)
        .until(() -> busy && BLOCKED.contains(thread.getState()));
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Ends the thread; one that waits is interrupted. */
  @Override
  public void close() {
    executor.shutdownNow();
  }

  /** A step that may throw. */
  @FunctionalInterface
  interface Action {
    void run() throws Exception;
  }
}
