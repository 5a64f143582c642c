package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.it.support.ChildJvm;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The clock of a process steps in both directions, and the process lives by it. */
class WallClockTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void aServerLivesByItsClock(@TempDir Path directory) {
    assumeTrue(PreloadedLibrary.CLOCK.isAvailable(), "no C compiler");
    WallClock clock = new WallClock(directory);
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

  @Test
  void theWallClockOfAJvmStepsAndItsMonotonicClockDoesNot(@TempDir Path directory)
      throws InterruptedException {
    assumeTrue(PreloadedLibrary.CLOCK.isAvailable(), "no C compiler");
    WallClock clock = new WallClock(directory);
    try (JavaProcess process = clock.on(ChildJvm.builder(TimeTeller.class)).start()) {
      for (Duration shift : List.of(Duration.ZERO, HOUR, HOUR.negated())) {
        clock.set(shift);
        long beforeNanos = System.nanoTime();
        process.send("");
        String[] told = process.awaitLine("time ", Duration.ofMinutes(1)).split(" ", -1);
        assertNear(shift, Instant.ofEpochMilli(Long.parseLong(told[1])));
        long nanos = Long.parseLong(told[2]);
        assertTrue(beforeNanos <= nanos && nanos <= System.nanoTime(), "monotonic");
      }
    }
  }

  /** A JVM that tells the time. */
  static final class TimeTeller {
    private TimeTeller() {}

    public static void main(String[] arguments) throws IOException {
      while (System.in.read() >= 0) {
        System.out.println("time " + System.currentTimeMillis() + " " + System.nanoTime());
      }
    }
  }

  private static void assertShift(RedisServer server, Duration expected) {
    List<?> time = (List<?>) server.command("TIME");
    assertNear(expected, Instant.ofEpochSecond(Long.parseLong((String) time.get(0))));
  }

  private static void assertNear(Duration expected, Instant time) {
    Duration shift = Duration.between(Instant.now(), time);
    assertTrue(shift.minus(expected).abs().compareTo(Duration.ofMinutes(1)) < 0, shift::toString);
  }
}
