package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock of a method is released after the commit, whichever advice is outside. */
@ExtendWith(RedisServerExtension.class)
@Timeout(120)
class LockedTransactionTest {
  private static final int SALES = 200;

  static class Shop {
    private final JdbcClient jdbc;
    private final LockClient locks;

    Shop(JdbcClient jdbc, LockClient locks) {
      this.jdbc = jdbc;
      this.locks = locks;
    }

    @Locked(name = "stock:#{#article}", waitTime = "1m")
    @Transactional
    public void sell(String article) {
      int left = amount(article) - 1;
      jdbc.sql("UPDATE stock SET amount = ? WHERE article = ?").params(left, article).update();
    }

    int amount(String article) {
      return jdbc.sql("SELECT amount FROM stock WHERE article = ?")
          .param(article)
          .query(Integer.class)
          .single();
    }

    boolean isLocked(String article) {
      return locks.lock("stock:" + article).isLocked();
    }

    @Locked(name = "stock:#{#article}")
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void sellOnItsOwn(String article) {
      sell(article);
    }

    @Locked(name = "stock:#{#article}")
    public void touch(String article) {}

    @Locked(name = "stock:#{#article}")
    public void lose(String article) {
      sell(article);
      Lease lease = CurrentLease.get();
      locks.lock("stock:" + article).forceUnlock();
      Awaitility.await().until(() -> !lease.isValid());
    }

    /** As a program that asks whether it still holds the lock. */
    void force(String article) {
      DistributedLock lock = locks.lock("stock:" + article);
      lock.forceUnlock();
      Awaitility.await().pollInSameThread().until(() -> !lock.isHeldByCurrentThread());
    }

    @Locked(name = "stock:#{#article}")
    public CompletableFuture<String> later(String article) {
      return new CompletableFuture<>();
    }
  }

  /** As Spring Boot configures it: the lock is outside. */
  @Configuration(proxyBeanMethods = false)
  static class LockOutside {}

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true, order = 0)
  static class TransactionOutside {}

  private interface ShopTest {
    void run(Shop shop, TransactionTemplate transactions) throws Exception;
  }

  private static void inShop(RedisServer redis, ShopTest test) {
    inShop(redis, true, test);
  }

  private static void inShop(RedisServer redis, boolean lockOutside, ShopTest test) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                MortiseAutoConfiguration.class,
                LockedAutoConfiguration.class,
                DataSourceAutoConfiguration.class,
                DataSourceTransactionManagerAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                JdbcTemplateAutoConfiguration.class,
                JdbcClientAutoConfiguration.class))
        .withPropertyValues(
            "spring.datasource.generate-unique-name=true",
            "mortise.redis.uri=" + redis.uri(),
            "mortise.lease=5s")
        .withBean(Shop.class)
        .withUserConfiguration(lockOutside ? LockOutside.class : TransactionOutside.class)
        .run(
            context -> {
              JdbcClient jdbc = context.getBean(JdbcClient.class);
              jdbc.sql("CREATE TABLE stock (article VARCHAR(40) PRIMARY KEY, amount INT)").update();
              jdbc.sql("INSERT INTO stock VALUES ('shoe', 500)").update();
              test.run(context.getBean(Shop.class), context.getBean(TransactionTemplate.class));
            });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noSaleIsLostInEitherOrder(boolean lockOutside, RedisServer redis) {
    inShop(
        redis,
        lockOutside,
        (shop, transactions) -> {
          ExecutorService threads = Executors.newFixedThreadPool(8);
          try {
            List<Future<?>> sales =
                IntStream.range(0, SALES)
                    .<Future<?>>mapToObj(sale -> threads.submit(() -> shop.sell("shoe")))
                    .toList();
            for (Future<?> sale : sales) {
              sale.get();
            }
          } finally {
            threads.shutdownNow();
          }
          assertThat(shop.amount("shoe")).isEqualTo(500 - SALES);
          assertThat(redis.command("EXISTS", "stock:shoe")).isEqualTo(0L);
        });
  }

  @Test
  void theLockOfAMethodThatATransactionCallsIsReleasedWithTheTransaction(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          transactions.executeWithoutResult(
              status -> {
                shop.touch("shoe");
                shop.touch("shoe");
                assertThat(shop.isLocked("shoe")).isTrue();
              });
          assertThat(shop.isLocked("shoe")).isFalse();
          transactions.executeWithoutResult(
              status -> {
                shop.sell("shoe");
                status.setRollbackOnly();
              });
          assertThat(shop.isLocked("shoe")).isFalse();
          assertThat(shop.amount("shoe")).isEqualTo(500);
          TransactionTemplate readOnly =
              new TransactionTemplate(transactions.getTransactionManager());
          readOnly.setReadOnly(true);
          readOnly.executeWithoutResult(status -> shop.touch("shoe"));
          assertThat(shop.isLocked("shoe")).isFalse();
        });
  }

  /** With the lock inside, it belongs to the new transaction; outside, to the suspended one. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aNewTransactionHasItsOwnRelease(boolean lockOutside, RedisServer redis) {
    inShop(
        redis,
        lockOutside,
        (shop, transactions) -> {
          transactions.executeWithoutResult(
              status -> {
                shop.sellOnItsOwn("shoe");
                assertThat(shop.isLocked("shoe")).isEqualTo(lockOutside);
                status.setRollbackOnly();
              });
          assertThat(shop.isLocked("shoe")).isFalse();
          assertThat(shop.amount("shoe")).isEqualTo(499);
        });
  }

  @Test
  void aRollbackToASavepointReleasesNothing(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          transactions.executeWithoutResult(
              status -> {
                Object savepoint = status.createSavepoint();
                shop.sell("shoe");
                status.rollbackToSavepoint(savepoint);
                assertThat(shop.isLocked("shoe")).isTrue();
              });
          assertThat(shop.isLocked("shoe")).isFalse();
        });
  }

  @Test
  void aLossBeforeTheCommitRollsBack(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          assertThatThrownBy(() -> transactions.executeWithoutResult(status -> shop.lose("shoe")))
              .isInstanceOf(LeaseLostException.class);

          assertThat(shop.amount("shoe")).isEqualTo(500);
        });
  }

  /** The thread knows of the loss, and has another hold at the commit. */
  @Test
  void aLossBeforeTheCommitRollsBackAlsoWhenTheLockIsAcquiredAgain(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          assertThatThrownBy(
                  () ->
                      transactions.executeWithoutResult(
                          status -> {
                            shop.sell("shoe");
                            shop.force("shoe");
                            shop.touch("shoe");
                          }))
              .isInstanceOf(LeaseLostException.class);

          assertThat(shop.amount("shoe")).isEqualTo(500);
          assertThat(shop.isLocked("shoe")).isFalse();
        });
  }

  /** As a listener of an event does: a synchronization that is registered then is not called. */
  @Test
  void aLossInACallbackBeforeTheCommitRollsBack(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          TransactionSynchronization losing =
              new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                  shop.lose("shoe");
                }
              };
          assertThatThrownBy(
                  () ->
                      transactions.executeWithoutResult(
                          status ->
                              TransactionSynchronizationManager.registerSynchronization(losing)))
              .isInstanceOf(LeaseLostException.class);

          assertThat(shop.amount("shoe")).isEqualTo(500);
          assertThat(shop.isLocked("shoe")).isFalse();
        });
  }

  @Test
  void aStageIsRefusedInATransaction(RedisServer redis) {
    inShop(
        redis,
        (shop, transactions) -> {
          CompletableFuture<String> stage = transactions.execute(status -> shop.later("shoe"));
          assertThatThrownBy(stage::join)
              .isInstanceOf(CompletionException.class)
              .hasMessageContaining("outside of the transaction");
          assertThat(shop.isLocked("shoe")).isFalse();
        });
  }
}
