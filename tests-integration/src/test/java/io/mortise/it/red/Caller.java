package io.mortise.it.red;

import io.mortise.it.support.Patiently;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A call on a thread of its own, which can be interrupted and asked for what came of it. */
final class Caller<T> {
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final Thread thread;

  private Caller(Callable<T> call) {
    thread =
        new Thread(
            () -> {
              try {
                result.complete(call.call());
              } catch (Throwable thrown) {
                result.completeExceptionally(thrown);
              }
            },
            "caller");
    thread.setDaemon(true);
    thread.start();
  }

  static <T> Caller<T> start(Callable<T> call) {
    return new Caller<>(call);
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean isDone() {
    return result.isDone();
  }

  /** Waits until the call stands in a class of that simple name. */
  void awaitIn(String simpleName) {
    Patiently.until(
        "the call stands in " + simpleName,
        () ->
            Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith("." + simpleName)));
  }

  /** What the call gave; throws what it threw. */
  T get() throws Exception {
    try {
      return result.get(Party.LIVENESS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception thrown) {
        throw thrown;
      }
      throw new AssertionError(e.getCause());
    } catch (TimeoutException e) {
      AssertionError stuck = new AssertionError("the call does not return; it stands here");
      stuck.setStackTrace(thread.getStackTrace());
      throw stuck;
    }
  }
}
