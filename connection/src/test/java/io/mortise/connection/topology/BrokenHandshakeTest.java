package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Protocol.Command;

/**
 * A connection that breaks while it is being made: the server restarts at that moment, or a proxy
 * before it does. Another one is made, once.
 */
@Timeout(60)
class BrokenHandshakeTest {
  private static final Exchange ECHO =
      (connection, deadline) -> connection.executeCommand(Command.ECHO);

  /** How many connections the server still closes at their first greeting. */
  private final AtomicInteger breaks = new AtomicInteger();

  /** Before it closes one, in milliseconds. */
  private volatile int pause;

  /** Whether the server does not answer the greetings of the others. */
  private volatile boolean silent;

  private final AtomicInteger lost = new AtomicInteger();
  private final RespServer server =
      new RespServer(
          command -> "+PONG\r\n",
          this::greet);
  private final RedisNode node = TestNodes.at(server, TestSettings.DEFAULTS);

  BrokenHandshakeTest() {
    node.onConnectionLost(lost::incrementAndGet);
  }

  private String greet(String welcome) {
    if (breaks.getAndDecrement() > 0) {
      var unused =
          Uninterruptibles.awaitUninterruptibly(new CountDownLatch(1), Duration.ofMillis(pause));
      return RespServer.HANG_UP;
    }
    return silent ? RespServer.SILENCE : welcome;
  }

  /** Returns how many connections the server has closed, of so many that it would. */
  private int closed(int of) {
    return of - breaks.get();
  }

  @AfterEach
  void close() {
    node.close();
    server.close();
  }

  private static Deadline inTime() {
    return TestSettings.after(TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void anotherConnectionIsMade() throws Exception {
    breaks.set(1);

    node.exchange(ECHO, inTime());

    assertEquals(1, server.heard().size(), "the command was sent once");
    assertEquals(0, lost.get(), "no command was under way, and no hold is in doubt");
    assertFalse(node.isUnreachable());
  }

  @Test
  void aServerThatClosesEachConnectionIsUnreachable() {
    breaks.set(Integer.MAX_VALUE);

    CommandException fault =
        assertThrows(CommandException.class, () -> node.exchange(ECHO, inTime()));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertTrue(node.isUnreachable());
    assertEquals(2, closed(Integer.MAX_VALUE));
    assertEquals(0, node.connectionsInUse());
  }

  @Test
  void aCommandThatMustNotRunTwiceConnectsTwiceAtMost() throws Exception {
    breaks.set(1);
    node.exchangeAtMostOnce(ECHO, inTime());

    breaks.set(Integer.MAX_VALUE);
    node.close();
    RedisNode next = TestNodes.at(server, TestSettings.DEFAULTS);
    assertThrows(CommandException.class, () -> next.exchangeAtMostOnce(ECHO, inTime()));
    next.close();

    assertEquals(2, closed(Integer.MAX_VALUE));
  }

  @Test
  void noOtherConnectionIsMadeThatWouldEndTooLate() {
    breaks.set(Integer.MAX_VALUE);
    pause = 600;

    assertThrows(
        CommandException.class,
        () -> node.exchange(ECHO, TestSettings.after(TimeUnit.SECONDS.toNanos(1))));

    assertEquals(1, closed(Integer.MAX_VALUE));
  }

  /** With half of the time: in a cluster there is time for another node. */
  @Test
  void theFirstFailureIsThrownIfTheOtherConnectionIsNotMadeEither() {
    breaks.set(1);
    silent = true;
    Deadline deadline = TestSettings.after(TimeUnit.SECONDS.toNanos(2));

    CommandException fault =
        assertThrows(CommandException.class, () -> node.exchange(ECHO, deadline));

    assertTrue(fault.isBrokenConnection(), fault::toString);
    assertFalse(fault.isTimeOut());
    assertEquals(0, node.connectionsInUse());
  }
}
