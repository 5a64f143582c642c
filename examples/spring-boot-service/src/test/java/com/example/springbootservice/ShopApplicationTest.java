package com.example.springbootservice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.OptimisticLockingFailureException;

@Timeout(60)
class ShopApplicationTest {
  private static RedisServer redis;
  private static ConfigurableApplicationContext context;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    context = SpringApplication.run(ShopApplication.class, "--redis.uri=" + redis.uri());
  }

  @AfterAll
  static void stop() {
    context.close();
    redis.close();
  }

  @Test
  void noSaleIsLost() {
    StockService stock = context.getBean(StockService.class);
    int before = stock.amount("shoe");

    IntStream.range(0, 100).parallel().forEach(sale -> sell(stock));

    assertEquals(before - 100, stock.amount("shoe"));
  }

  private static void sell(StockService stock) {
    try {
      stock.sell("shoe");
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aLateHolderSellsNothing() throws Exception {
    StockService stock = context.getBean(StockService.class);
    stock.sell("shoe");

    assertThrows(OptimisticLockingFailureException.class, () -> stock.claim("shoe", 1));
  }

  @Test
  void theClientIsClosedWithTheApplication() {
    ConfigurableApplicationContext other =
        SpringApplication.run(ShopApplication.class, "--redis.uri=" + redis.uri());
    LockClient locks = other.getBean(LockClient.class);

    other.close();

    assertTrue(locks.isClosed());
  }
}
