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
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Threads that a test starts; {@link #join} throws what they threw. Closing interrupts them. As an
 * extension in an instance field of a test class it is closed after each test.
 */
public final class TestThreads implements AutoCloseable, AfterEachCallback {
  private final ExecutorService threads;
  private final List<Future<?>> started = new ArrayList<>();

  public TestThreads() {
    this(Executors.newCachedThreadPool());
  }

  public TestThreads(ExecutorService threads) {
    this.threads = threads;
  }

  /** The task of a thread. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  /** Starts a thread. */
  public void start(Work work) {
    started.add(
        threads.submit(
            () -> {
              work.run();
              return null;
            }));
  }

  /** Starts a thread that has a result. */
  public <T> Future<T> ask(Callable<T> work) {
    Future<T> future = threads.submit(work);
    started.add(future);
    return future;
  }

  /** Waits for all threads; throws what the first of them threw that failed. */
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
  public void afterEach(ExtensionContext context) {
    close();
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
