package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.LockNotAcquiredException;
import io.mortise.spring.boot.LockType;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What calls of locked methods do: on a Redis in memory, in an application context. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LockedTest {
  record Order(long id) {}

  static class Shop {
    private final LockClient locks;
    private CompletableFuture<String> work = new CompletableFuture<>();

    Shop(LockClient locks) {
      this.locks = locks;
    }

    @Locked(name = "${shop.prefix}order:#{#order.id}:#{#a1}")
    long token(Order order, String kind) {
      assertThat(locks.lock("shop:order:" + order.id() + ":" + kind).isHeldByCurrentThread())
          .isTrue();
      return CurrentLease.get().fencingToken();
    }

    @Locked(name = "closed:#{#order}")
    public void close(Order order) {}

    @Locked(name = "order:#{#id}", waitTime = "50ms")
    public String change(String id) {
      return "changed " + id;
    }

    @Locked(name = "order:#{#id}", waitTime = "0s", whenBusy = WhenBusy.SKIP)
    public Optional<String> changeIfFree(String id) {
      return Optional.of("changed " + id);
    }

    @Locked(name = "order:#{#id}", waitTime = "0s", fallback = "later")
    public String changeOrLater(String id) {
      return "changed " + id;
    }

    @SuppressWarnings("UnusedMethod") // the fallback
    String later(String id) {
      return id + " later";
    }

    @Locked(name = "stock", type = LockType.READ)
    public boolean isRead() {
      return new RedisReadWriteLock(locks, "stock").readLock().isHeldByCurrentThread();
    }

    @Locked(name = "stock", type = LockType.WRITE)
    public boolean isWritten() {
      return new RedisReadWriteLock(locks, "stock").writeLock().isHeldByCurrentThread();
    }

    @Locked(name = "turn", type = LockType.FAIR)
    public String mode() {
      return LockType.FAIR.lock(locks, "turn").inspect().mode().name();
    }

    @Locked(name = "job", lease = "20s", atLeast = "5s", waitTime = "0s", whenBusy = WhenBusy.SKIP)
    public Integer job() {
      assertThat(CurrentLease.get().remaining()).isLessThan(Duration.ofSeconds(21));
      return 1;
    }

    @Locked(name = "order:#{#id}")
    public String lose(String id, Runnable loss) {
      loss.run();
      return "done";
    }

    @Locked(name = "order:#{#id}")
    public CompletableFuture<String> startWork(String id) {
      return work;
    }

    @Locked(name = "order:#{#id}", waitTime = "1s")
    public void waitingMethod(String id) throws InterruptedException {}

    /** A field of the proxy is not that of the bean. */
    public CompletableFuture<String> newWork() {
      work = new CompletableFuture<>();
      return work;
    }
  }

  private static void inShop(InMemoryRedis redis, Consumer<Shop> test) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withPropertyValues("shop.prefix=shop:")
        .withBean(LockClient.class, redis::client)
        .withBean(Shop.class)
        .run(context -> test.accept(context.getBean(Shop.class)));
  }

  @Test
  void theNameIsMadeOfArgumentsAndProperties(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          assertThat(shop.token(new Order(42), "new")).isPositive();
          assertThat(redis.command("EXISTS", "shop:order:42:new")).isEqualTo(0L); // released
        });
  }

  @Test
  void aNullInTheNameFailsTheCall(InMemoryRedis redis) {
    inShop(
        redis,
        shop ->
            assertThatThrownBy(() -> shop.change(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'#id'")
                .hasMessageContaining("Shop.change(String)"));
  }

  /** Its {@code toString()} might be another one in each process. */
  @Test
  void aValueInTheNameThatIsNoTextFailsTheCall(InMemoryRedis redis) {
    inShop(
        redis,
        shop ->
            assertThatThrownBy(() -> shop.close(new Order(42)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'#order' in the name 'closed:#{#order}' is no text")
                .hasMessageContaining("Shop.close(Order)"));
  }

  @Test
  void aBusyLockThrowsSkipsOrFallsBack(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          assertThat(shop.changeIfFree("7")).contains("changed 7");
          assertThat(shop.changeOrLater("7")).isEqualTo("changed 7");
          try (Lease other = redis.occupy(client -> client.lock("order:7"))) {
            assertThat(other.isValid()).isTrue();
            assertThatThrownBy(() -> shop.change("7"))
                .isInstanceOfSatisfying(
                    LockNotAcquiredException.class,
                    e -> assertThat(e.lockName()).isEqualTo("order:7"))
                .hasMessageContaining("PT0.05S");
            assertThat(shop.changeIfFree("7")).isEmpty();
            assertThat(shop.changeOrLater("7")).isEqualTo("7 later");
          }
        });
  }

  @Test
  void eachTypeIsItsLock(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          assertThat(shop.isRead()).isTrue();
          assertThat(shop.isWritten()).isTrue();
          assertThat(shop.mode()).isEqualTo("EXCLUSIVE");
        });
  }

  @Test
  void aMinimumKeepsTheLockBusyAfterTheMethod(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          assertThat(shop.job()).isEqualTo(1);
          assertThat(shop.job()).isNull();
        });
  }

  @Test
  void theCallerOfAMethodThatLostItsLeaseIsTold(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          Runnable loss =
              () -> {
                Lease lease = CurrentLease.get();
                redis.loseHold("order:9");
                await().until(() -> !lease.isValid());
              };
          assertThatThrownBy(() -> shop.lose("9", loss)).isInstanceOf(LeaseLostException.class);
          Runnable failing =
              () -> {
                loss.run();
                throw new IllegalStateException("body");
              };
          assertThatThrownBy(() -> shop.lose("9", failing))
              .hasMessage("body")
              .satisfies(
                  e -> assertThat(e.getSuppressed()[0]).isInstanceOf(LeaseLostException.class));
        });
  }

  @Test
  void aReleaseThatRedisDoesNotConfirmIsNoFailureOfTheMethod(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> assertThat(shop.lose("8", () -> redis.failNext("OOM test"))).isEqualTo("done"));
  }

  @Test
  void aMethodMayCallAnotherWithTheSameLock(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          String[] inner = new String[1];
          shop.lose("5", () -> inner[0] = shop.change("5"));
          assertThat(inner[0]).isEqualTo("changed 5");
          assertThat(redis.command("EXISTS", "order:5")).isEqualTo(0L);
        });
  }

  @Test
  void theLeaseIsThatOfTheInnermostMethod(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          shop.lose(
              "5",
              () -> {
                assertThat(shop.token(new Order(1), "x")).isPositive();
                assertThat(CurrentLease.get().lockName()).isEqualTo("order:5");
              });
          assertThatThrownBy(CurrentLease::get)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("bean");
        });
  }

  @Test
  void aStageKeepsTheLockUntilItCompletes(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          CompletableFuture<String> work = shop.newWork();
          CompletableFuture<String> result = shop.startWork("3");
          assertThat(result).isNotDone();
          assertThat(shop.changeIfFree("3")).isEmpty();
          work.complete("worked");
          assertThat(result.join()).isEqualTo("worked");
          assertThat(shop.changeIfFree("3")).isPresent();

          work = shop.newWork();
          CompletableFuture<String> lost = shop.startWork("3");
          redis.loseHold("order:3");
          work.complete("worked");
          assertThatThrownBy(lost::join)
              .isInstanceOf(CompletionException.class)
              .hasCauseInstanceOf(LeaseLostException.class);

          work = shop.newWork();
          shop.startWork("3").cancel(true);
          assertThat(work).isNotDone();
          assertThat(shop.changeIfFree("3")).isEmpty(); // the work goes on
          work.complete("worked");
          await().untilAsserted(() -> assertThat(shop.changeIfFree("3")).isPresent());
        });
  }

  /** Null, with a brace that makes no hash tag, and too long. */
  @Test
  void aNameThatIsNoneFailsTheStage(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          for (String id : Arrays.asList(null, "{", "x".repeat(2_000))) {
            CompletableFuture<String> failed = shop.startWork(id);
            assertThatThrownBy(failed::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalArgumentException.class);
          }
        });
  }

  @Test
  void anInterruptIsThrownWhereItIsDeclaredAndKeptWhereItIsNot(InMemoryRedis redis) {
    inShop(
        redis,
        shop -> {
          try (Lease other = redis.occupy(client -> client.lock("order:2"))) {
            assertThat(other.isValid()).isTrue();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> shop.waitingMethod("2"))
                .isInstanceOf(InterruptedException.class);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> shop.change("2"))
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
          }
        });
  }
}
