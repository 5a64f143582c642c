package io.mortise.benchmarks.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.testkit.RedisServer;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Commands inside scripts did not come over the wire. */
class WireCommandsTest {
  @Test
  void commandsOfScriptsAreNotCounted() {
    assertEquals(
        7,
        WireCommands.count(
            Map.of("evalsha", 3L, "hset", 9L, "publish", 3L, "client|setinfo", 2L, "ping", 2L)));
  }

  @Test
  void withoutScriptsEveryCommandCounts() {
    assertEquals(5, WireCommands.count(Map.of("blpop", 2L, "rpush", 3L)));
  }

  @Test
  void aRealServerSaysSo() {
    try (RedisServer server = RedisServer.start()) {
      server.resetStats();
      for (int i = 0; i < 4; i++) {
        server.command(
            "EVAL", "redis.call('SET', 'a', 1) return redis.call('PUBLISH', 'b', 'c')", "0");
      }
      assertEquals(4, WireCommands.count(server.commandStats()));
    }
  }
}
