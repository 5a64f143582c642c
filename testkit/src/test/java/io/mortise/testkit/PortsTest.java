package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that starts does not get the port of another one that is down for a moment. */
@Timeout(60)
class PortsTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  /** Takes the port that it is given, or says that it cannot, and ends when it is told to. */
  static final class Taker {
    public static void main(String[] arguments) throws Exception {
      System.out.println("took " + Ports.take(Integer.parseInt(arguments[0])));
      System.in.read();
    }
  }

  @Test
  void aPortIsTakenOnceAlsoByAnotherProcessUntilItIsGivenBack() throws Exception {
    int port = Ports.take();
    assertFalse(Ports.take(port), "taken here");
    assertEquals("took false", answerOf(port), "taken there");
    Ports.giveBack(port);
    assertEquals("took true", answerOf(port));
    assertTrue(Ports.take(port), "given back by the end of the process");
    Ports.giveBack(port);
    Ports.giveBack(port);
  }

  private static String answerOf(int port) throws InterruptedException {
    try (JavaProcess child =
        JavaProcess.builder(Taker.class).arguments(Integer.toString(port)).start()) {
      return child.awaitLine("took", LONG);
    }
  }

  @Test
  void aServerKeepsItsPortWhileItIsDownAndGivesItBackWhenItIsClosed() {
    int port;
    try (RedisServer server = RedisServer.start()) {
      port = server.port();
      server.kill();
      assertTrue(Ports.isFree(port));
      assertFalse(Ports.take(port));
      server.restart();
    }
    assertTrue(Ports.take(port));
    Ports.giveBack(port);
  }
}
