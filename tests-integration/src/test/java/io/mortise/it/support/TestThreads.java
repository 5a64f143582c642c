package io.mortise.it.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads that a test starts, and whose failures are the test's. Closing interrupts them. */
public final class TestThreads implements AutoCloseable {
  private final ExecutorService threads;
  private final List<Future<?>> started = new ArrayList<>();

  public TestThreads() {
    this(Executors.newCachedThreadPool());
  }

  public TestThreads(ExecutorService threads) {
    this.threads = threads;
  }

  /** What a thread does. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  /** Starts one thread. */
  public void start(Work work) {
    started.add(
        threads.submit(
            () -> {
              work.run();
              return null;
            }));
  }

  /** Starts one thread that has a result. */
  public <T> Future<T> ask(Callable<T> work) {
    Future<T> future = threads.submit(work);
    started.add(future);
    return future;
  }

  /** Waits for all that were started; throws what the first of them threw that failed. */
  public void join(Duration within) throws InterruptedException, TimeoutException {
    long deadlineNanos = System.nanoTime() + within.toNanos();
    for (Future<?> future : started) {
      try {
        future.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw new AssertionError("a thread of the test failed", e.getCause());
      }
    }
    started.clear();
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
