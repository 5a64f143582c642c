package io.mortise.it.faults;

import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.Stacks;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** A call on a thread of its own, to be looked at, interrupted, and asked for what came of it. */
final class Background<T> {
  static final Duration LIVENESS = Duration.ofSeconds(20);

  /** Platform threads, or virtual ones. */
  @FunctionalInterface
  interface Threads {
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

  private Background(Threads threads, Callable<T> call) {
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

  static <T> Background<T> start(Callable<T> call) {
    return new Background<>(Threads.PLATFORM, call);
  }

  static <T> Background<T> start(Threads threads, Callable<T> call) {
    return new Background<>(threads, call);
  }

  Thread thread() {
    return thread;
  }

  boolean isDone() {
    return result.isDone();
  }

  /** What the call gave; throws what it threw. */
  T get() throws Exception {
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

  /** Waits until the call stands in that class. */
  Background<T> awaitIn(Class<?> type) {
    until("the call stands in " + type, () -> Stacks.contain(thread.getStackTrace(), type));
    return this;
  }

  /** Waits until the call waits in line behind another thread of its client. */
  Background<T> awaitInLine() {
    return awaitIn(EngineTypes.LINE);
  }

  /** Waits until the call is parked until something changes in Redis. */
  Background<T> awaitParked() {
    return awaitIn(EngineTypes.PARKED);
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits for a condition for as long as something that works may ever take. */
  static void until(String what, Callable<Boolean> condition) {
    patiently(what).until(condition);
  }

  /** Waits until the assertion holds. */
  static void untilAsserted(String what, org.awaitility.core.ThrowingRunnable assertion) {
    patiently(what).untilAsserted(assertion);
  }

  /** The condition holds from now on, all that time. */
  static void holdsFor(Duration time, String what, Callable<Boolean> condition) {
    patiently(what).during(time).failFast(what, () -> !condition.call()).until(condition);
  }

  private static ConditionFactory patiently(String what) {
    return Awaitility.await(what)
        .pollInSameThread() // which may be the owner of what is asked for
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(LIVENESS);
  }

  /** How long the call takes, in ms. */
  static long millisOf(Callable<?> call) throws Exception {
    long start = System.nanoTime();
    call.call();
    return (System.nanoTime() - start) / 1_000_000;
  }
}
