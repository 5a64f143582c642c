package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;

import io.mortise.it.support.StackTraces;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread that does what a test gives it, step by step: another owner of locks. */
final class StepThread implements AutoCloseable {
  private static final Duration LIVENESS = Duration.ofSeconds(30);
  private volatile Thread thread = Thread.currentThread();
  private final ExecutorService steps =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread fresh = new Thread(work, "step-thread");
            fresh.setDaemon(true);
            thread = fresh;
            return fresh;
          });

  /** A step, which may throw. */
  interface Step {
    void run() throws Exception;
  }

  /** Begins a step that has a result. */
  <T> Future<T> start(Callable<T> step) {
    return steps.submit(step);
  }

  /** Begins a step. */
  Future<?> begin(Step step) {
    return start(
        () -> {
          step.run();
          return null;
        });
  }

  /** Begins a step whose end nobody awaits. */
  void execute(Runnable step) {
    steps.execute(step);
  }

  /** Does a step, and returns its answer. */
  boolean ask(Callable<Boolean> step) throws Exception {
    return result(start(step));
  }

  /** Does a step, and awaits its end. */
  void run(Step step) throws Exception {
    result(begin(step));
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits until the thread is parked. */
  void awaitBlocked() {
    await()
        .pollInterval(Duration.ofMillis(2))
        .atMost(LIVENESS)
        .until(
            () ->
                thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.WAITING);
  }

  /** Waits until the thread is parked by a method of that class. */
  void awaitParkedIn(Class<?> type) {
    await()
        .pollInterval(Duration.ofMillis(2))
        .atMost(LIVENESS)
        .until(
            () -> {
              StackTraceElement[] stack = thread.getStackTrace();
              return stack.length > 0
                  && stack[0].getMethodName().equals("park")
                  && StackTraces.contain(stack, type);
            });
  }

  /** Returns the result of a step; throws what the step threw. */
  static <T> T result(Future<T> step) throws Exception {
    try {
      return step.get(LIVENESS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("not done after " + LIVENESS, e);
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
