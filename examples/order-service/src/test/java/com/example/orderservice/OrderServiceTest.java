package com.example.orderservice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.sql.Connection;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisServerExtension.class)
@Timeout(30)
class OrderServiceTest {
  private final DataSource database = OrderService.database();

  @Test
  void theProgramSellsEachBookOnce(RedisServer redis, LockClient locks) throws Exception {
    OrderService.main(redis.uri());

    assertEquals(-1, new OrderService(locks, database).order("book"));
  }

  @Test
  void aLateHolderSellsNothing(LockClient locks) throws Exception {
    OrderService.createStock(database);
    OrderService service = new OrderService(locks, database);
    assertEquals(99, service.order("book"));

    try (Connection late = database.getConnection()) {
      assertThrows(IllegalStateException.class, () -> OrderService.claim(late, "book", 1));
    }

    assertEquals(98, service.order("book"));
  }
}
