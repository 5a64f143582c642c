package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** The client is not closed under a locked method that runs. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(60)
class LockedShutdownTest {
  private static final CountDownLatch END = new CountDownLatch(1);

  static class Job {
    private static volatile CompletableFuture<Lease> running = new CompletableFuture<>();
    private static volatile CompletableFuture<String> work = new CompletableFuture<>();

    @Locked(name = "job")
    public void run() throws InterruptedException {
      running.complete(CurrentLease.get());
      END.await();
    }

    @Locked(name = "job")
    public CompletableFuture<String> start() {
      running.complete(CurrentLease.get());
      return work;
    }
  }

  private static ApplicationContextRunner runner(InMemoryRedis redis) {
    Job.running = new CompletableFuture<>();
    Job.work = new CompletableFuture<>();
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withBean(LockClient.class, redis::client)
        .withBean(Job.class);
  }

  /** As a task of an executor with virtual threads, which does not wait for it. */
  @Test
  void aShutdownWaitsForAMethod(InMemoryRedis redis) {
    runner(redis)
        .run(
            context -> {
              Job job = context.getBean(Job.class);
              CompletableFuture<Void> call =
                  CompletableFuture.runAsync(
                      () -> {
                        try {
                          job.run();
                        } catch (InterruptedException e) {
                          throw new IllegalStateException(e);
                        }
                      });
              closesAfter(context.getSourceApplicationContext(), END::countDown);
              assertThat(call).succeedsWithin(Duration.ofSeconds(10));
            });
  }

  @Test
  void aShutdownWaitsForAStage(InMemoryRedis redis) {
    runner(redis)
        .run(
            context -> {
              CompletableFuture<String> result = context.getBean(Job.class).start();
              closesAfter(context.getSourceApplicationContext(), () -> Job.work.complete("worked"));
              assertThat(result).isCompletedWithValue("worked");
            });
  }

  private static void closesAfter(ConfigurableApplicationContext context, Runnable end) {
    Lease lease = Job.running.join();
    LockClient client = context.getBean(LockClient.class);
    Thread closing = new Thread(context::close);
    closing.start();
    await()
        .until(
            () ->
                closing.getState() == Thread.State.TIMED_WAITING
                    || closing.getState() == Thread.State.TERMINATED);
    assertThat(lease.isValid()).isTrue();
    assertThat(client.isClosed()).isFalse();
    end.run();
    await().until(() -> !closing.isAlive());
    assertThat(client.isClosed()).isTrue();
  }
}
