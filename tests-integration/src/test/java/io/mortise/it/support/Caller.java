package io.mortise.it.support;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A call on a thread of its own, which can be interrupted and asked for what came of it. */
public final class Caller<T> {
  /** Longer than anything that works ever takes. */
  private static final Duration LIVENESS = Duration.ofSeconds(20);

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

  /** Starts the call. */
  public static <T> Caller<T> start(Callable<T> call) {
    return new Caller<>(call);
  }

  /** Interrupts the call. */
  public void interrupt() {
    thread.interrupt();
  }

  /** Whether the call has returned or thrown. */
  public boolean isDone() {
    return result.isDone();
  }

  /** Waits until the call stands in a class of that simple name. */
  public void awaitIn(String simpleName) {
    Patiently.until("the call stands in " + simpleName, () -> stands(simpleName, ""));
  }

  /** Whether the call stands in a method whose name begins so, of a class of that simple name. */
  public boolean stands(String simpleName, String method) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().endsWith("." + simpleName)
                    && frame.getMethodName().startsWith(method));
  }

  /** What the call gave; throws what it threw. */
  public T get() throws Exception {
    try {
      return result.get(LIVENESS.toMillis(), TimeUnit.MILLISECONDS);
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
