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
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
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

  /** The answer to the greetings of the others; empty for the usual one. */
  private volatile String answer = "";

  private final AtomicInteger lost = new AtomicInteger();
  private final RespServer server = new RespServer(command -> "+PONG\r\n", this::greet);
  private final RedisNode node = node();

  /** Connecting is limited by the deadlines of the exchanges alone. */
  private RedisNode node() {
    DefaultJedisClientConfig config =
        DefaultJedisClientConfig.builder().connectionTimeoutMillis(60_000).build();
    return new RedisNode(
        server.address(),
        new LazyConnectionPool(HostAndPort.from(server.address()), config, TestSettings.DEFAULTS));
  }

  BrokenHandshakeTest() {
    node.onConnectionLost(lost::incrementAndGet);
  }

  private String greet(String welcome) {
    if (breaks.getAndDecrement() > 0) {
      var unused =
          Uninterruptibles.awaitUninterruptibly(new CountDownLatch(1), Duration.ofMillis(pause));
      return RespServer.HANG_UP;
    }
    return answer.isEmpty() ? welcome : answer;
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
    RedisNode next = node();
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

    assertTrue(closed(Integer.MAX_VALUE) < 2);
  }

  /** With half of the time: in a cluster there is time for another node. */
  @Test
  void theFirstFailureIsThrownIfTheOtherConnectionIsNotMadeEither() {
    breaks.set(1);
    answer = RespServer.SILENCE;
    Deadline deadline = TestSettings.after(TimeUnit.SECONDS.toNanos(4));

    CommandException fault =
        assertThrows(CommandException.class, () -> node.exchange(ECHO, deadline));

    assertTrue(fault.isBrokenConnection(), fault::toString);
    assertTrue(deadline.leftNanos() > 0);
    assertEquals(0, node.connectionsInUse());
  }

  @Test
  void theReplyToTheOtherConnectionCounts() {
    breaks.set(1);
    answer = RespServer.error("ERR max number of clients reached");

    CommandException fault =
        assertThrows(CommandException.class, () -> node.exchange(ECHO, inTime()));

    assertEquals(Kind.NOT_READY, fault.kind());
  }
}
