package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import reactor.core.publisher.Mono;

/**
 * The type of a result is that of the bean's class, and a result that hides its work is refused.
 */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LockedResultTest {
  abstract static class Job<R> {
    private Supplier<R> result = () -> null;

    @Locked(name = "job", waitTime = "0s", whenBusy = WhenBusy.SKIP)
    public R run() {
      return result.get();
    }

    @Locked(name = "job", waitTime = "0s", fallback = "later")
    public R runOrLater() {
      return result.get();
    }

    @SuppressWarnings("UnusedMethod") // the fallback
    R later() {
      return result.get();
    }

    /** A field of the proxy is not that of the bean. */
    public void returns(Supplier<R> value) {
      this.result = value;
    }
  }

  static class StageJob extends Job<CompletableFuture<String>> {}

  static class OptionalJob extends Job<Optional<String>> {}

  static class ReactiveJob extends Job<Mono<String>> {}

  static class UntypedJob extends Job<Object> {}

  private static void with(
      Class<?> job, InMemoryRedis redis, ContextConsumer<AssertableApplicationContext> test) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withBean(LockClient.class, redis::client)
        .withBean(job)
        .run(test);
  }

  @Test
  void aStageThatASubclassNamesKeepsTheLock(InMemoryRedis redis) {
    with(
        StageJob.class,
        redis,
        context -> {
          StageJob job = context.getBean(StageJob.class);
          CompletableFuture<String> work = new CompletableFuture<>();
          job.returns(() -> work);

          CompletableFuture<String> result = job.run();

          assertThat(result).isNotDone();
          assertThat(isLocked(redis)).isTrue();
          assertThat(job.run()).isCompletedWithValue(null); // skipped
          work.complete("worked");
          assertThat(result.join()).isEqualTo("worked");
          assertThat(isLocked(redis)).isFalse();
        });
  }

  @Test
  void theEmptyValueIsThatOfTheTypeThatASubclassNames(InMemoryRedis redis) {
    with(
        OptionalJob.class,
        redis,
        context -> {
          OptionalJob job = context.getBean(OptionalJob.class);
          job.returns(() -> Optional.of("ran"));
          try (Lease other = redis.occupy(client -> client.lock("job"))) {
            assertThat(other.isValid()).isTrue();
            assertThat(job.run()).isEmpty();
            assertThat(job.runOrLater()).contains("ran");
          }
        });
  }

  @Test
  void aTypeThatNobodyCouldWaitForIsRefusedWhereASubclassNamesIt(InMemoryRedis redis) {
    with(
        ReactiveJob.class,
        redis,
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("(Mono)")
                .hasMessageContaining("return the result"));
  }

  static List<Object> hidden() {
    return List.of(
        new CompletableFuture<>(),
        new FutureTask<>(() -> ""),
        (Callable<String>) () -> "",
        Mono.just(""));
  }

  @ParameterizedTest
  @MethodSource("hidden")
  void aResultThatHidesItsWorkFailsTheCallAndFreesTheLock(Object work, InMemoryRedis redis) {
    with(
        UntypedJob.class,
        redis,
        context -> {
          UntypedJob job = context.getBean(UntypedJob.class);
          job.returns(() -> "result");
          assertThat(job.run()).isEqualTo("result");

          job.returns(() -> work);
          assertThatThrownBy(job::run)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("@Locked on Job.run()")
              .hasMessageContaining(work.getClass().getSimpleName())
              .hasMessageContaining("its return type Object")
              .hasMessageContaining("declare CompletableFuture");
          assertThat(isLocked(redis)).isFalse();
        });
  }

  private static boolean isLocked(InMemoryRedis redis) {
    return Long.valueOf(1).equals(redis.command("EXISTS", "job"));
  }
}
