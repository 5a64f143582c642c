package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.UnansweredUndoException;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A connection that breaks: the server may have restarted empty, so the holds are verified. The
 * other idle connections are closed then, and nobody else finds that out.
 */
@Timeout(60)
class LostConnectionTest {
  private static final long LONG_NANOS = 20_000_000_000L;
  private static final Exchange ECHO =
      (connection, deadline) -> connection.executeCommand(Command.ECHO);

  private final AtomicInteger lost = new AtomicInteger();
  private final AtomicInteger breaks = new AtomicInteger();
  private Runnable beforeTheEnd = () -> {};

  /** Before each answer, in milliseconds. */
  private volatile int pause;

  private final RespServer server =
      new RespServer(
          command -> {
            await(pause);
            if (command.get(0).equals("PING") || breaks.getAndDecrement() <= 0) {
              return "+PONG\r\n";
            }
            beforeTheEnd.run();
            return RespServer.HANG_UP;
          });
  private final RedisNode node = TestNodes.at(server, TestSettings.DEFAULTS);

  LostConnectionTest() {
    node.onConnectionLost(lost::incrementAndGet);
  }

  private static void await(int millis) {
    var unused =
        Uninterruptibles.awaitUninterruptibly(new CountDownLatch(1), Duration.ofMillis(millis));
  }

  @AfterEach
  void close() {
    node.close();
    server.close();
  }

  @Test
  void itIsReportedOnce() throws Exception {
    breaks.set(1);

    node.exchange(ECHO, TestSettings.after(LONG_NANOS));

    assertEquals(1, lost.get());
  }

  @Test
  void itIsReportedAlsoIfItsThreadIsInterruptedAtThatMoment() throws Exception {
    Thread caller = Thread.currentThread();
    beforeTheEnd = caller::interrupt;
    breaks.set(1);

    node.exchange(ECHO, TestSettings.after(LONG_NANOS));

    assertTrue(Thread.interrupted());
    assertEquals(1, lost.get());
  }

  @Test
  void itIsReportedAlsoIfTheCommandMustNotRunTwice() {
    breaks.set(1);

    CommandException fault =
        assertThrows(
            CommandException.class,
            () -> node.exchangeAtMostOnce(ECHO, TestSettings.after(LONG_NANOS)));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(1, lost.get());
  }

  private void undoUnanswered(JedisConnectionException failure) {
    Exchange undo =
        (connection, deadline) -> {
          throw new UnansweredUndoException("too few", failure);
        };
    CommandException fault =
        assertThrows(
            CommandException.class, () -> node.exchange(undo, TestSettings.after(LONG_NANOS)));
    assertTrue(fault.isUndoUnanswered());
  }

  @Test
  void itIsReportedAlsoIfItBreaksInTheUndoOfAnAttempt() {
    undoUnanswered(new JedisConnectionException("broken"));

    assertEquals(1, lost.get());
  }

  @Test
  void anUndoThatTimesOutHasBrokenNone() {
    undoUnanswered(new JedisConnectionException(new SocketTimeoutException()));

    assertEquals(0, lost.get());
  }

  @Test
  void aServerThatRefusesConnectionsHasBrokenNone() {
    server.close();

    assertThrows(CommandException.class, () -> node.exchange(ECHO, TestSettings.after(LONG_NANOS)));

    assertEquals(0, lost.get());
  }

  /** The socket of a Jedis client gives each read the whole of its time-out. */
  @Test
  void theCommandBehindTheProbeHasOnlyTheTimeThatIsLeft() throws Exception {
    pause = 100;
    AtomicInteger millis = new AtomicInteger();
    Exchange timed =
        (connection, deadline) -> {
          millis.set(connection.getSoTimeout());
          return connection.executeCommand(Command.ECHO);
        };

    node.exchangeAtMostOnce(timed, TestSettings.after(LONG_NANOS));

    assertTrue(millis.get() <= LONG_NANOS / 1_000_000 - pause, () -> millis + " ms");
  }
}
