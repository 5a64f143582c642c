package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
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

  private final AtomicInteger lost = new AtomicInteger();
  private final RespServer server =
      new RespServer(
          command -> "+PONG\r\n",
          welcome -> breaks.getAndDecrement() > 0 ? RespServer.HANG_UP : welcome);
  private final RedisNode node = TestNodes.at(server, TestSettings.DEFAULTS);

  BrokenHandshakeTest() {
    node.onConnectionLost(lost::incrementAndGet);
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
  void anotherConnectionIsMadeForACommandThatMustNotRunTwice() throws Exception {
    breaks.set(1);

    node.exchangeAtMostOnce(ECHO, inTime());

    assertEquals(0, lost.get(), "no command was under way, and no hold is in doubt");
  }

  @Test
  void aServerThatClosesEachConnectionIsUnreachable() {
    breaks.set(Integer.MAX_VALUE);

    CommandException fault =
        assertThrows(CommandException.class, () -> node.exchange(ECHO, inTime()));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertTrue(node.isUnreachable());
    assertEquals(Integer.MAX_VALUE - 2, breaks.get(), "connections were made twice, not more");
    assertEquals(0, node.connectionsInUse());
  }
}
