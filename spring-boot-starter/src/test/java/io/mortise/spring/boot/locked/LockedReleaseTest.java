package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Which failed release of a locked method its caller hears of. */
@ExtendWith({InMemoryRedisExtension.class, OutputCaptureExtension.class})
@Timeout(60)
class LockedReleaseTest {
  private static final String OVERWRITTEN = "WRONGTYPE test";

  static class Shop {
    private CompletableFuture<String> work = new CompletableFuture<>();

    @Locked(name = "shop")
    public String sell(Runnable last) {
      last.run();
      return "sold";
    }

    @Locked(name = "shop")
    public CompletableFuture<String> start() {
      return work;
    }

    /** A field of the proxy is not that of the bean. */
    public <T extends CompletableFuture<String>> T works(T next) {
      work = next;
      return next;
    }
  }

  private static void inShop(
      InMemoryRedis redis, ContextConsumer<AssertableApplicationContext> test) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withBean(LockClient.class, redis::client)
        .withBean(Shop.class)
        .run(test);
  }

  private static boolean isFree(InMemoryRedis redis) {
    return Long.valueOf(0).equals(redis.command("EXISTS", "shop"));
  }

  /** Also of an error that no repetition would end: what the method has committed is committed. */
  @ParameterizedTest
  @ValueSource(strings = {"OOM test", "NOPERM test", "NOAUTH test", "ERR test"})
  void aReleaseThatRedisRefusesIsLogged(String error, InMemoryRedis redis, CapturedOutput output) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          assertThat(shop.sell(() -> redis.failNext(error))).isEqualTo("sold");
          await().until(() -> isFree(redis)); // the client has repeated it

          CompletableFuture<String> work = shop.works(new CompletableFuture<>());
          CompletableFuture<String> result = shop.start();
          redis.failNext(error);
          work.complete("worked");
          assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("worked");
        });
    assertThat(output.getOut().split("its result counts", -1)).hasSize(3);
  }

  @Test
  void anOverwrittenKeyIsForTheCaller(InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          assertThatThrownBy(() -> shop.sell(() -> redis.failNext(OVERWRITTEN)))
              .isInstanceOfSatisfying(
                  LockException.class, e -> assertThat(e.reason()).isEqualTo(Reason.WRONG_TYPE));

          CompletableFuture<String> work = shop.works(new CompletableFuture<>());
          CompletableFuture<String> result = shop.start();
          redis.failNext(OVERWRITTEN);
          work.complete("worked");
          assertThatThrownBy(result::join)
              .isInstanceOf(CompletionException.class)
              .hasCauseInstanceOf(LockException.class);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDoubtThatACancelledStageCannotHaveIsLogged(
      boolean fails, InMemoryRedis redis, CapturedOutput output) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          CompletableFuture<String> work = shop.works(new CompletableFuture<>());
          shop.start().cancel(true);
          redis.failNext(OVERWRITTEN);
          if (fails) {
            work.completeExceptionally(new IllegalStateException("work"));
          } else {
            work.complete("worked");
          }
          await().untilAsserted(() -> assertThat(output).contains("has cancelled the stage"));
        });
    assertThat(output).contains("lock 'shop'").contains(OVERWRITTEN);
  }

  /** As a stage of the application's own may do. */
  private static final class Refusing extends CompletableFuture<String> {
    private final boolean after;

    Refusing(boolean after) {
      this.after = after;
    }

    @Override
    public CompletableFuture<String> whenComplete(
        BiConsumer<? super String, ? super Throwable> action) {
      if (after) {
        var unused = super.whenComplete(action);
      }
      throw new UnsupportedOperationException("no callback");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStageThatTakesNoCallbackFreesTheLock(boolean after, InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          Refusing work = shop.works(new Refusing(after));
          CompletableFuture<String> result = shop.start();
          assertThatThrownBy(result::join)
              .isInstanceOf(CompletionException.class)
              .hasCauseInstanceOf(UnsupportedOperationException.class);
          work.complete("worked"); // the callback, if there is one, ends nothing twice
          assertThat(isFree(redis)).isTrue();
          assertThat(shop.works(CompletableFuture.completedFuture("next"))).isDone();
          assertThat(shop.start().join()).isEqualTo("next");
          AtomicBoolean stopped = new AtomicBoolean();
          context.getBean(RunningCalls.class).stop(() -> stopped.set(true));
          assertThat(stopped).isTrue();
        });
  }

  @ParameterizedTest
  @EnumSource(Reason.class)
  void onlyALossOrADoubtIsForTheCaller(Reason reason) {
    DistributedLock lock =
        (DistributedLock)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) -> {
                  throw new LockException(reason, "lock 'shop'", null);
                });
    if (reason == Reason.IN_DOUBT || reason == Reason.WRONG_TYPE) {
      assertThatThrownBy(() -> HoldRelease.release(lock)).isInstanceOf(LockException.class);
    } else {
      HoldRelease.release(lock);
    }
  }
}
