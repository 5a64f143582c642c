package com.example.fromredisson;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisServerExtension.class)
@Timeout(60)
class MigrationTest {
  @Test
  void noSaleIsLost(RedisServer redis) throws Exception {
    assertEquals(400, new Migration().run(redis.uri()));
  }
}
