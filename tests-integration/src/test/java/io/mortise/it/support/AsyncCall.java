package io.mortise.it.support;

import io.mortise.core.internal.EngineTypes;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;

/**
 * A call on its own thread, which a test can observe, interrupt, and ask for the result.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class AsyncCall<T> {
  /** Starts the thread of a call: a platform thread or a virtual one. */
  @FunctionalInterface
  public interface Threads {
    Threads PLATFORM =
        task -> {
          Thread thread = new Thread(task, "caller");
          thread.setDaemon(true);
          thread.start();
          return thread;
        };

    /** By reflection: the tests are compiled for Java 17. */
    Threads VIRTUAL =
        task -> {
          try {
            return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JVM has no virtual threads", e);
          }
        };

    Thread start(Runnable task);
  }

  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final Thread thread;

  private AsyncCall(Threads threads, Callable<T> call) {
    thread =
        threads.start(
            () -> {
              try {
                result.complete(call.call());
              } catch (Throwable thrown) {
                result.completeExceptionally(thrown);
              }
            });
  }

  /** Starts the call on a platform thread. */
  public static <T> AsyncCall<T> start(Callable<T> call) {
    return new AsyncCall<>(Threads.PLATFORM, call);
  }

  /** Starts the call on a thread of that kind. */
  public static <T> AsyncCall<T> start(Threads threads, Callable<T> call) {
    return new AsyncCall<>(threads, call);
  }

  /** Starts a call without a result on a platform thread. */
  public static AsyncCall<Void> run(TestThreads.Work work) {
    return start(
        () -> {
          work.run();
          return null;
        });
  }

  /** Starts a call that locks and unlocks. */
  public static AsyncCall<Void> cycle(Lock lock) {
    return start(cycleOf(lock));
  }

  /** Returns a call that locks and unlocks. */
  public static Callable<Void> cycleOf(Lock lock) {
    return () -> {
      lock.lock();
      lock.unlock();
      return null;
    };
  }

  /** Waits for all calls; throws what the first of them threw that failed. */
  public static void join(List<? extends AsyncCall<?>> calls) throws Exception {
    for (AsyncCall<?> call : calls) {
      call.get();
    }
  }

  /** Returns the thread of the call. */
  public Thread thread() {
    return thread;
  }

  /** Returns whether the call has returned or thrown. */
  public boolean isDone() {
    return result.isDone();
  }

  /** Returns the result of the call; throws what the call threw. */
  public T get() throws Exception {
    try {
      return result.get(Eventually.LIVENESS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception thrown) {
        throw thrown;
      }
      throw new AssertionError(e.getCause());
    } catch (TimeoutException e) {
      AssertionError stuck = new AssertionError("the call does not return; its stack:");
      stuck.setStackTrace(thread.getStackTrace());
      throw stuck;
    }
  }

  /** Waits until a method of that class is on the stack of the call. */
  public AsyncCall<T> awaitIn(Class<?> type) {
    Eventually.until(
        type + " is on the stack of the call",
        () -> StackTraces.contain(thread.getStackTrace(), type));
    return this;
  }

  /** Waits until the call is in the local queue, behind another thread of its client. */
  public AsyncCall<T> awaitQueued() {
    return awaitIn(EngineTypes.QUEUE);
  }

  /** Waits until the call is parked until something changes in Redis. */
  public AsyncCall<T> awaitParked() {
    return awaitIn(EngineTypes.PARKED);
  }

  /** Returns whether that method is on the stack of the call. */
  public boolean isIn(Class<?> type, String method) {
    return StackTraces.contain(thread.getStackTrace(), type, method);
  }

  /** Interrupts the call. */
  public void interrupt() {
    thread.interrupt();
  }
}
