package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StutterTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  /** Says how long it stood still, each time that it was for 4 ms or more, until it is told. */
  static final class Ticker {
    public static void main(String[] arguments) throws Exception {
      System.out.println("ticking");
      long last = System.nanoTime();
      while (System.in.available() == 0) {
        long now = System.nanoTime();
        if (now - last >= 4_000_000) {
          System.out.println("stood " + (now - last) / 1_000_000);
        }
        last = now;
      }
      System.out.println("told");
    }
  }

  @Test
  void aProcessStandsStillAgainAndAgainAndRunsAfterwards() throws Exception {
    try (JavaProcess child = JavaProcess.start(Ticker.class)) {
      child.awaitLine("ticking", LONG);
      try (Stutter stutter = Stutter.start(1, child)) {
        await().atMost(LONG).until(() -> stutter.pauses() >= 5);
        assertTrue(stutter.longest().toMillis() >= 5, () -> "" + stutter.longest());
      }
      assertTrue(child.output().lines().filter(line -> line.startsWith("stood ")).count() >= 5);
      child.send("enough");
      child.awaitLine("told", LONG);
      assertEquals(0, child.awaitExit(LONG));
    }
  }

  @Test
  void aServerStuttersAndAnswersAfterwards() {
    try (RedisServer server = RedisServer.start()) {
      try (Stutter stutter = Stutter.start(1, server)) {
        await().atMost(LONG).until(() -> stutter.pauses() >= 5);
        assertTrue(stutter.longest().toMillis() >= 5, () -> "" + stutter.longest());
      }
      assertEquals("PONG", server.command("PING"));
    }
  }

  @Test
  void aProcessThatEndsIsLeftAlone() throws Exception {
    try (JavaProcess child = JavaProcess.start(Ticker.class)) {
      child.awaitLine("ticking", LONG);
      try (Stutter stutter = Stutter.start(1, child)) {
        await().atMost(LONG).until(() -> stutter.pauses() >= 1);
        child.kill();
        assertEquals(137, child.awaitExit(LONG));
      }
      assertThrows(IllegalStateException.class, child::pause);
    }
  }
}
