package com.example.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.redlock.ThreeNodes.Held;
import io.mortise.core.LockException;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreeNodesTest {
  private static final Duration WAIT = Duration.ofSeconds(10);

  /** No node hangs here, but the machine may be busy. */
  private static final Duration NODE_WAIT_BUDGET = Duration.ofSeconds(5);

  @Test
  void itGoesOnWhileOneNodeIsDown() throws Exception {
    try (RedisServer first = RedisServer.start();
        RedisServer second = RedisServer.start();
        RedisServer third = RedisServer.start();
        ThreeNodes service =
            new ThreeNodes(List.of(first.uri(), second.uri(), third.uri()), NODE_WAIT_BUDGET)) {
      Held all = service.work(WAIT);
      third.kill();
      Held majority = service.work(WAIT);

      assertTrue(all.validNodes() >= 2, all::toString); // it does not wait for the third
      assertEquals(2, majority.validNodes());
      assertTrue(majority.token() > all.token());

      second.kill();
      assertThrows(LockException.class, () -> service.work(Duration.ofMillis(300)));
    }
  }
}
