package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each test of a class finds the server empty, and a client that works. */
@ExtendWith(RedisServerExtension.class)
class RedisServerExtensionTest {
  @RepeatedTest(2)
  void eachTestBeginsWithAnEmptyServer(RedisServer server, LockClient client) {
    assertEquals(0L, server.command("DBSIZE"));
    assertTrue(new RedisLock(client, "order:42").tryLock());
    assertEquals(1L, server.command("EXISTS", "order:42"));
  }

  @Nested
  @TestMethodOrder(MethodOrderer.MethodName.class)
  class AfterATestThatLeavesAFault {
    @Test
    void firstItIsSuspended(RedisServer server) {
      server.pause();
    }

    @Test
    void secondItAnswersAndIsKilled(RedisServer server) {
      assertEquals("PONG", server.command("PING"));
      server.kill();
    }

    @Test
    void thirdItAnswers(RedisServer server, LockClient client) {
      assertEquals("PONG", server.command("PING"));
      assertTrue(client.lock("order:42").tryLock());
    }
  }
}
