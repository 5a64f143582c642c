package io.mortise.connection.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread of a test's, whose state and outcome the test can wait for. */
public final class BackgroundCall<T> {
  /** Only so that a test which fails comes to an end. */
  public static final Duration LIVENESS = Duration.ofSeconds(20);

  /** The task of the thread. */
  public interface Task<T> {
    T run() throws Exception;
  }

  private final CompletableFuture<T> outcome = new CompletableFuture<>();
  private final Thread thread;

  private BackgroundCall(Task<T> task) {
    thread =
        new Thread(
            () -> {
              try {
                outcome.complete(task.run());
              } catch (Throwable e) {
                outcome.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
  }

  public static <T> BackgroundCall<T> start(Task<T> task) {
    BackgroundCall<T> started = new BackgroundCall<>(task);
    started.thread.start();
    return started;
  }

  /** As {@link #start}, and the thread waits for something when this returns. */
  public static <T> BackgroundCall<T> startAndPark(Task<T> task) {
    BackgroundCall<T> started = start(task);
    started.awaitParked();
    return started;
  }

  /** Waits until the thread waits, and has seen each interrupt that it got. */
  public void awaitParked() {
    awaitParked(thread);
  }

  public static void awaitParked(Thread thread) {
    await()
        .atMost(LIVENESS)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(
            () ->
                !thread.isInterrupted()
                    && (thread.getState() == Thread.State.WAITING
                        || thread.getState() == Thread.State.TIMED_WAITING));
  }

  public void interrupt() {
    thread.interrupt();
  }

  public boolean isDone() {
    return outcome.isDone();
  }

  public T get() throws ExecutionException, InterruptedException, TimeoutException {
    return outcome.get(LIVENESS.toSeconds(), TimeUnit.SECONDS);
  }
}
