package io.mortise.cli.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class StockTest extends RedisFixture {
  @Test
  void anOlderTokenIsRefusedAndChangesNothing() {
    Stock stock = new Stock(redis, "fenced");
    assertTrue(stock.write(10, 1_795_225_047_455_615L));
    assertFalse(stock.write(99, 1_795_225_047_455_614L));
    assertEquals(10, stock.read());
    assertEquals(1_795_225_047_455_615L, stock.newestToken());
  }

  @Test
  void theSameTokenMayWriteAgainAndANewerOneToo() {
    Stock stock = new Stock(redis, "again");
    assertTrue(stock.write(10, 5));
    assertTrue(stock.write(9, 5));
    assertTrue(stock.write(8, 6));
    assertEquals(8, stock.read());
  }

  @Test
  void whatIsWrittenGoesByItself() {
    Stock stock = new Stock(redis, "life");
    stock.write(3);
    assertTrue(redis.ttl("life:stock") > 0);
    stock.write(2, 1);
    assertTrue(redis.ttl("life:stock") > 0);
    assertTrue(redis.ttl("life:newest-token") > 0);
  }

  @Test
  void afterRemovalNothingStandsInRedis() {
    Stock stock = new Stock(redis, "gone");
    stock.write(3, 1);
    stock.remove();
    assertEquals(0, redis.exists("gone:stock", "gone:newest-token"));
    assertThrows(IllegalStateException.class, stock::read);
  }
}
