package io.mortise.it.support;

import java.time.Duration;
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

  /** Waits until the call stands in that class. */
  public void awaitIn(Class<?> type) {
    Patiently.until(
        "the call stands in " + type, () -> Stacks.contain(thread.getStackTrace(), type));
  }

  /** Whether the call stands in that method of that class. */
  public boolean stands(Class<?> type, String method) {
    return Stacks.contain(thread.getStackTrace(), type, method);
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
