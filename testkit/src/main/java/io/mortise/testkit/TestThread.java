package io.mortise.testkit;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
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
  static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Set<Thread.State> BLOCKED =
      EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final LinkedBlockingQueue<Runnable> steps = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile boolean busy;
  private volatile boolean closed;

  TestThread(String name) {
    thread = new Thread(this::work, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Begins a step. */
  <T> Future<T> start(Callable<T> step) {
    CompletableFuture<T> result = new CompletableFuture<>();
    busy = true;
    steps.add(
        () -> {
          try {
            T value = step.call();
            busy = false;
            result.complete(value);
          } catch (Throwable e) { // a failed assertion is a result too
            busy = false;
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  /** Does a step and waits for its result. What the step throws is thrown here. */
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

  /** Waits for the result of a step; what it threw is thrown here. */
  static <T> T result(Future<T> step) throws Exception {
    try {
      return step.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("not done after " + PATIENCE, e);
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
        .atMost(PATIENCE)
        .until(() -> busy && steps.isEmpty() && BLOCKED.contains(thread.getState()));
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Ends the thread; one that waits is interrupted. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
  }

  private void work() {
    while (!closed) {
      try {
        steps.take().run();
      } catch (InterruptedException e) {
        // Either it is closed, or the status was left by a step and means nothing to the next one.
      }
    }
  }

  /** A step that may throw. */
  @FunctionalInterface
  interface Action {
    void run() throws Exception;
  }
}
