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

/** The service with a real Redis. */
@Timeout(60)
class ShopApplicationTest {
  private static RedisServer redis;
  private static ConfigurableApplicationContext context;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    context = run();
  }

  private static ConfigurableApplicationContext run() {
    return SpringApplication.run(
        ShopApplication.class,
        "--mortise.redis.uri=" + redis.uri(),
        "--server.port=0",
        "--spring.datasource.generate-unique-name=true");
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

    IntStream.range(0, 100).parallel().forEach(sale -> stock.sell("shoe"));

    assertEquals(before - 100, stock.amount("shoe"));
  }

  @Test
  void aLateHolderSellsNothing() {
    StockService stock = context.getBean(StockService.class);
    stock.sell("shoe");

    assertThrows(OptimisticLockingFailureException.class, () -> stock.claim("shoe", 1));
  }

  @Test
  void theClientIsClosedWithTheApplication() {
    ConfigurableApplicationContext other = run();
    LockClient locks = other.getBean(LockClient.class);

    other.close();

    assertTrue(locks.isClosed());
  }
}
