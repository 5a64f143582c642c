package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkerPoolTest {
  private static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

  private static <T> T soon(CompletableFuture<T> future) throws Exception {
    return future.get(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void anErrorOfATaskEndsNoThread() throws Exception {
    try (WorkerPool workers = new WorkerPool("test")) {
      CompletableFuture<Thread> first = new CompletableFuture<>();
      workers.execute(
          () -> {
            first.complete(Thread.currentThread());
            throw new StackOverflowError("on purpose");
          });
      BackgroundCall.awaitParked(soon(first));
      CompletableFuture<Thread> second = new CompletableFuture<>();
      workers.execute(() -> second.complete(Thread.currentThread()));

      assertSame(soon(first), soon(second));
    }
  }

  /** Such as a listener of a composite hold, which a client notifies while it closes. */
  @Test
  void aTaskThatMayBlockEndsBeforeTheCloseInterruptsTheRest() throws Exception {
    WorkerPool workers = new WorkerPool("test");
    CountDownLatch goOn = new CountDownLatch(1);
    CompletableFuture<String> outcome = new CompletableFuture<>();
    CompletableFuture<Thread> begun = new CompletableFuture<>();
    var unused =
        workers.submitBlocking(
            () -> {
              begun.complete(Thread.currentThread());
              try {
                goOn.await();
                outcome.complete("ended");
              } catch (InterruptedException e) {
                outcome.complete("interrupted");
              }
            });
    BackgroundCall.awaitParked(soon(begun));
    BackgroundCall<Boolean> closing =
        BackgroundCall.startAndPark(
            () -> {
              workers.close(BackgroundCall.LIVENESS::toNanos);
              return true;
            });

    goOn.countDown();

    assertEquals("ended", soon(outcome));
    assertTrue(closing.get());
  }

  /** A thread may live long, and keep in memory whatever it took over from its maker. */
  @Test
  void aThreadKeepsNothingOfTheOneThatHappensToStartIt() throws Exception {
    Thread current = Thread.currentThread();
    ClassLoader context = current.getContextClassLoader();
    try (WorkerPool workers = new WorkerPool("test");
        URLClassLoader application = new URLClassLoader(new URL[0])) {
      CompletableFuture<ClassLoader> used = new CompletableFuture<>();
      CompletableFuture<String> inherited = new CompletableFuture<>();
      try {
        current.setContextClassLoader(application);
        INHERITED.set("of the application");
        workers.execute(
            () -> {
              used.complete(Thread.currentThread().getContextClassLoader());
              inherited.complete(INHERITED.get());
            });
      } finally {
        INHERITED.remove();
        current.setContextClassLoader(context);
      }

      assertSame(context, soon(used), "that of whoever made the client");
      assertNull(soon(inherited));
    }
  }

  /** They throw there unless the preview is enabled. */
  @Test
  void thePreviewOfVirtualThreadsInJdk20IsNotUsed() {
    ExecutorService platform = WorkerPool.cached(Thread::new);

    assertSame(platform, WorkerPool.executorOfBlockingTasks(19, platform));
    assertSame(platform, WorkerPool.executorOfBlockingTasks(20, platform));
  }
}
