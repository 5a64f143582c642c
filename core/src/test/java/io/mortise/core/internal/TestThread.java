package io.mortise.core.internal;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A thread of a test's, whose state and outcome the test can wait for. */
final class TestThread<T> {
  /** Only so that a test which fails comes to an end. */
  static final Duration LIVENESS = Duration.ofSeconds(20);

  /** What the thread does. */
  interface Task<T> {
    T run() throws Exception;
  }

  private final CompletableFuture<T> outcome = new CompletableFuture<>();
  private final Thread thread;

  private TestThread(Task<T> task) {
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

  static <T> TestThread<T> start(Task<T> task) {
    TestThread<T> started = new TestThread<>(task);
    started.thread.start();
    return started;
  }

  /** As {@link #start}, and the thread waits for something when this returns. */
  static <T> TestThread<T> startAndPark(Task<T> task) {
    TestThread<T> started = start(task);
    started.awaitParked();
    return started;
  }

  /** Waits until the thread waits, and has seen each interrupt that it got. */
  void awaitParked() {
    awaitParked(thread);
  }

  static void awaitParked(Thread thread) {
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

  void interrupt() {
    thread.interrupt();
  }

  boolean isDone() {
    return outcome.isDone();
  }

  T get() throws ExecutionException, InterruptedException, TimeoutException {
    return outcome.get(LIVENESS.toSeconds(), TimeUnit.SECONDS);
  }
}
