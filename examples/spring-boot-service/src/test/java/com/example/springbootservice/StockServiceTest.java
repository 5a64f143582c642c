package com.example.springbootservice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.spring.boot.LockNotAcquiredException;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The service without a server: a client of the application's own wins, here one of a test. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(60)
class StockServiceTest {
  private static ConfigurableApplicationContext run(InMemoryRedis redis) {
    return new SpringApplicationBuilder(ShopApplication.class)
        .web(WebApplicationType.NONE)
        .properties("spring.datasource.generate-unique-name=true")
        .initializers(
            (GenericApplicationContext context) ->
                context.registerBean(LockClient.class, () -> redis.client()))
        .run();
  }

  @Test
  void whatIsNotThereIsNotSold(InMemoryRedis redis) {
    try (ConfigurableApplicationContext context = run(redis)) {
      context.getBean(JdbcClient.class).sql("UPDATE stock SET amount = 1").update();
      StockService stock = context.getBean(StockService.class);

      assertEquals(0, stock.sell("shoe"));
      assertEquals(-1, stock.sell("shoe"));

      assertEquals(0, stock.amount("shoe"));
    }
  }

  @Test
  void aSaleThatGetsNoLockSellsNothing(InMemoryRedis redis) {
    try (ConfigurableApplicationContext context = run(redis)) {
      StockService stock = context.getBean(StockService.class);
      assertEquals(199, stock.sell("shoe"));

      try (Lease other = redis.occupy(client -> client.lock("stock:shoe"))) {
        assertEquals("stock:shoe", other.lockName());
        redis.timeOutNextWait(); // otherwise a sale waits for 5 s
        assertThrows(LockNotAcquiredException.class, () -> stock.sell("shoe"));
      }

      assertEquals(199, stock.amount("shoe"));
    }
  }
}
