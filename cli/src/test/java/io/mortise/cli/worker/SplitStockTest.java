package io.mortise.cli.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.worker.SplitStock.Sale;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SplitStockTest extends RedisFixture {
  private static final Sale FIRST = new Sale(1, 100, 3, 1_795_396_597_559_400L, -20, 30);
  private static final Sale SECOND = new Sale(0, 100, 0, 7, 40, 50);

  @Test
  void eachPartHasItsShare() {
    SplitStock stock = new SplitStock(redis, "shares");
    stock.reset(500, 5);
    assertEquals(500, stock.left());
    stock.write(4, 99);
    assertEquals(99, stock.read(4));
    assertEquals(100, stock.read(3));
    assertEquals(499, stock.left());
  }

  @Test
  void salesAreReadAsTheyWereMade() {
    SplitStock stock = new SplitStock(redis, "sales");
    stock.reset(200, 2);
    stock.add(FIRST);
    stock.add(SECOND);
    assertEquals(List.of(FIRST, SECOND), stock.sales());
    assertTrue(redis.ttl("sales:sales") > 0);

    stock.reset(200, 2);
    assertEquals(List.of(), stock.sales());
  }

  @Test
  void afterRemovalNothingStandsInRedis() {
    SplitStock stock = new SplitStock(redis, "gone");
    stock.reset(10, 1);
    stock.add(FIRST);
    stock.remove();
    assertEquals(Set.of(), redis.keys("gone*"));
    assertThrows(IllegalStateException.class, () -> stock.read(0));
  }
}
