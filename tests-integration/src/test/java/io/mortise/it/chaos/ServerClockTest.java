package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server's clock steps in both directions, and keys expire by it. */
class ServerClockTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void aServerLivesByItsClock(@TempDir Path directory) {
    assumeTrue(PreloadedLibrary.CLOCK.isAvailable(), "no C compiler");
    ServerClock clock = new ServerClock(directory);
    try (RedisServer server = clock.on(RedisServer.builder()).start()) {
      assertShift(server, Duration.ZERO);
      server.command("SET", "key", "value", "EX", "7200");

      clock.step(HOUR.negated());
      assertShift(server, HOUR.negated());
      server.restart(); // a process that starts has the clock too
      assertShift(server, HOUR.negated());

      server.command("SET", "key", "value", "EX", "7200");
      clock.step(HOUR);
      assertShift(server, Duration.ZERO);
      assertEquals("value", server.command("GET", "key"));
      clock.step(HOUR.plusMinutes(1));
      assertNull(server.command("GET", "key"));
    }
  }

  private static void assertShift(RedisServer server, Duration expected) {
    List<?> time = (List<?>) server.command("TIME");
    Duration shift =
        Duration.between(
            Instant.now(), Instant.ofEpochSecond(Long.parseLong((String) time.get(0))));
    assertTrue(shift.minus(expected).abs().compareTo(Duration.ofMinutes(1)) < 0, shift::toString);
  }
}
