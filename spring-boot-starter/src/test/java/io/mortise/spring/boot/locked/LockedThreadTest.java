package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.LockNotAcquiredException;
import io.mortise.spring.boot.LockType;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;

/** What the calling thread already holds, and an interrupt of it. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LockedThreadTest {
  static class Shop {
    @Locked(name = "stock", type = LockType.READ)
    public void read(Runnable body) {
      body.run();
    }

    @Locked(name = "stock", type = LockType.WRITE, whenBusy = WhenBusy.SKIP)
    public Boolean write() {
      return true;
    }

    @Locked(name = "shelf", waitTime = "0s", whenBusy = WhenBusy.SKIP)
    public Boolean count() {
      return true;
    }

    @Locked(name = "shelf", fallback = "later")
    public String deliver() {
      return "delivered";
    }

    String later() {
      return "later";
    }

    @Locked(name = "order")
    public CompletableFuture<String> order() throws InterruptedException {
      return CompletableFuture.completedFuture("ordered");
    }

    @Locked(name = "interrupted")
    public CompletableFuture<String> interrupted() throws InterruptedException {
      throw new InterruptedException();
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

  @Test
  void aWriterInsideAReaderIsToldSo(InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          assertThatThrownBy(() -> shop.read(shop::write))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("Shop.write()")
              .hasMessageContaining("holds the read lock of 'stock'");
          assertThat(shop.write()).isTrue(); // the reader has released
        });
  }

  /** The check of the writer, which asks about the read hold, must not take the loss for told. */
  @Test
  void aReaderThatHasLostItsLockIsToldSoBeforeItReadsAgain(InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          LockClient locks = context.getBean(LockClient.class);
          AtomicBoolean readAgain = new AtomicBoolean();
          assertThatThrownBy(
                  () ->
                      shop.read(
                          () -> {
                            LockType.READ.lock(locks, "stock").forceUnlock();
                            shop.write();
                            shop.read(() -> readAgain.set(true));
                          }))
              .isInstanceOf(LeaseLostException.class);
          assertThat(readAgain).isFalse();
        });
  }

  @Test
  void anInterruptIsKeptWhereTheFailureIsInAStage(InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          try (Lease other = redis.occupy(client -> client.lock("order"))) {
            assertThat(other.isValid()).isTrue();
            Thread.currentThread().interrupt();
            assertThat(shop.order()).isCompletedExceptionally();
            assertThat(Thread.interrupted()).isTrue();
          }
          CompletableFuture<String> failed = shop.interrupted();
          assertThat(Thread.interrupted()).isTrue();
          assertThat(failed).failsWithin(Duration.ofSeconds(10));
        });
  }

  @Test
  void anInterruptIsNotAnsweredAsABusyLockIs(InMemoryRedis redis) {
    inShop(
        redis,
        context -> {
          Shop shop = context.getBean(Shop.class);
          for (ThrowingCallable call : List.<ThrowingCallable>of(shop::count, shop::deliver)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(call)
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
          }
          assertThat(shop.count()).isTrue();
          assertThat(shop.deliver()).isEqualTo("delivered");
        });
  }
}
