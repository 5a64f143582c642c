package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * Idle connections that a firewall has forgotten: they look well, and nothing passes. One time-out
 * tells about all that were idle for as long.
 */
@Timeout(60)
class ForgottenConnectionsTest {
  private static final Exchange PING =
      (connection, deadline) -> connection.executeCommand(new CommandArguments(Command.PING));

  private final FakeTicker ticker = new FakeTicker();
  private volatile String answer = "+PONG\r\n";
  private final RespServer server = new RespServer(command -> answer);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology node =
      TopologyFactory.create(
          server.uri(),
          new ConnectionSettings(
              8,
              Duration.ofSeconds(20),
              TestSettings.DEFAULTS.durability(),
              TestSettings.DEFAULTS.security(),
              ticker,
              TestSettings.DEFAULTS.random()),
          workers);

  @AfterEach
  void close() {
    node.close();
    workers.close();
    server.close();
  }

  private void run(Exchange exchange, Duration within) throws CommandException {
    var unused = node.exchange(0, exchange, Deadline.after(within.toNanos(), ticker));
  }

  /** Leaves two idle connections. */
  private void burst() throws CommandException {
    run(
        (connection, deadline) -> {
          try {
            run(PING, Duration.ofSeconds(20));
          } catch (CommandException e) {
            throw new IllegalStateException(e);
          }
          return PING.on(connection, deadline);
        },
        Duration.ofSeconds(20));
    assertEquals(2, made());
  }

  /** The number of connections that were made. */
  private long made() {
    return server.greeted().stream().filter(command -> command.get(0).equals("HELLO")).count();
  }

  private void timeOut() {
    answer = RespServer.SILENCE;
    assertThrows(CommandException.class, () -> run(PING, Duration.ofMillis(100)));
    answer = "+PONG\r\n";
  }

  @Test
  void theNextCommandHasANewConnection() throws Exception {
    burst();
    ticker.advance(Duration.ofMinutes(10).toNanos());
    timeOut();

    run(PING, Duration.ofSeconds(20));

    assertEquals(3, made());
  }

  /** A server that is slow for a moment is not asked for new connections as well. */
  @Test
  void connectionsThatWereJustUsedAreKept() throws Exception {
    burst();
    timeOut();

    run(PING, Duration.ofSeconds(20));

    assertEquals(2, made());
    assertEquals(List.of("PING"), server.heard().get(server.heard().size() - 1));
  }
}
