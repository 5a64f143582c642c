package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread of its own that does what a test tells it, step by step: another owner. */
final class StepThread implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private volatile Thread thread = Thread.currentThread();
  private final ExecutorService steps =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread fresh = new Thread(work, "hand");
            fresh.setDaemon(true);
            thread = fresh;
            return fresh;
          });

  /** What may throw. */
  interface Step {
    void run() throws Exception;
  }

  /** Begins a step. */
  <T> Future<T> start(Callable<T> step) {
    return steps.submit(step);
  }

  /** Begins a step that has no result. */
  Future<?> begin(Step step) {
    return steps.submit(
        () -> {
          step.run();
          return null;
        });
  }

  /** Begins a step whose end nobody waits for. */
  void tell(Runnable step) {
    steps.execute(step);
  }

  /** Does a step and waits for it. */
  <T> T call(Callable<T> step) throws Exception {
    return result(start(step));
  }

  boolean ask(Callable<Boolean> step) throws Exception {
    return call(step);
  }

  void run(Step step) throws Exception {
    result(begin(step));
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits until the thread waits for something. */
  void awaitBlocked() {
    await()
        .pollInterval(Duration.ofMillis(2))
        .atMost(PATIENCE)
        .until(
            () ->
                thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.WAITING);
  }

  /** The result of a step; what it threw is thrown here. */
  static <T> T result(Future<T> step) throws Exception {
    try {
      return step.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("not done after " + PATIENCE, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception exception) {
        throw exception;
      }
      throw new AssertionError(e.getCause());
    }
  }

  @Override
  public void close() {
    steps.shutdownNow();
  }
}
