package io.mortise.connection.topology;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/** Commands that are longer than the buffers of both sockets, to a server that reads nothing. */
@Timeout(60)
class LongCommandTest {
  private static final ConnectionSettings SETTINGS = TestSettings.within(Duration.ofMillis(300));
  private static final long SOON = 300_000_000L;
  private static final long MINUTE = 60_000_000_000L;

  /** More than all socket buffers together take. */
  private static final String LONG_NAME = "x".repeat(16 * 1024 * 1024);

  private static final ScriptCall SHORT = TestCalls.inspect("x");
  private static final ScriptCall LONG = TestCalls.inspect(LONG_NAME);

  /** Of a script that shares no batch with commands of other threads. */
  private static final ScriptCall LONG_RENEWAL = TestCalls.renew(LONG_NAME, "holder", 1_000);

  private static final Exchange ECHO =
      new Exchange() {
        @Override
        public int bytes() {
          return LONG_NAME.length();
        }

        @Override
        public Object on(Connection connection, Deadline deadline) {
          connection.sendCommand(Command.ECHO, LONG_NAME);
          return connection.getOne();
        }
      };

  /** The command after which the server reads nothing more. */
  private volatile String last = "";

  private final RespServer server = new RespServer(this::answer);
  private final RedisNode node = TestNodes.at(server, SETTINGS);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology = new SingleNodeTopology(node, workers);
  private final ScriptExecutor commands = new ScriptExecutor(topology, workers, SETTINGS);
  private final ScriptExecutor patient =
      new ScriptExecutor(topology, workers, TestSettings.within(BackgroundCall.LIVENESS));

  private String answer(List<String> command) {
    if (command.get(0).equals(last)) {
      server.suspend();
    }
    return command.get(0).equals("PING") ? "+PONG\r\n" : ":1\r\n";
  }

  @AfterEach
  void close() {
    topology.close();
    workers.close();
    server.close();
  }

  private void assertTimesOut(BackgroundCall.Task<?> task) throws Exception {
    server.suspend();

    assertEndsInTime(task);
  }

  private void assertEndsInTime(BackgroundCall.Task<?> task) throws Exception {
    BackgroundCall<?> call = BackgroundCall.start(task::run);

    ExecutionException failed = assertThrows(ExecutionException.class, call::get);

    assertTimeOut(assertInstanceOf(CommandException.class, failed.getCause()));
    assertEquals(0, node.connectionsInUse());
    server.resume();
    assertEquals(1L, patient.run(SHORT).value(), "over a new connection");
  }

  private void assertTimeOut(CommandException fault) {
    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(
        fault.isTimeOut(), "the connection is not taken for broken, nor the command repeated");
    assertEquals(server.address() + " did not answer in time", fault.getMessage());
    assertTrue(fault.mayHaveExecuted());
  }

  @Test
  void aCommandThatMayShareABatchTimesOut() throws Exception {
    assertTimesOut(() -> commands.run(LONG, MINUTE));
  }

  @Test
  void aCommandOfItsOwnTimesOut() throws Exception {
    assertTimesOut(() -> commands.run(LONG_RENEWAL, MINUTE));
  }

  @Test
  void aCommandThatMustNotRunTwiceTimesOut() throws Exception {
    last = "PING"; // which goes before it, to find a dead connection

    assertEndsInTime(() -> commands.runAtMostOnce(LONG));
  }

  @Test
  void aCommandBehindAskingTimesOut() throws Exception {
    last = "ASKING";

    assertEndsInTime(() -> topology.exchange(0, ECHO.asking(), TestSettings.after(SOON)));
  }

  @Test
  void anAcknowledgedAttemptTimesOut() throws Exception {
    ConnectionSettings acknowledged =
        new ConnectionSettings(
            SETTINGS.maxConnections(),
            SETTINGS.commandTimeout(),
            new Durability(1, false, Duration.ofMillis(100)),
            SETTINGS.security(),
            SETTINGS.ticker(),
            SETTINGS.random());
    ScriptExecutor waiting = new ScriptExecutor(topology, workers, acknowledged);

    assertTimesOut(() -> waiting.attempt(ScriptRequest.of(LONG), answer -> true, List::of, MINUTE));
  }

  @Test
  void eachCommandOfAPipelineHasAnOutcomeInTime() throws Exception {
    server.suspend();
    BackgroundCall<List<ScriptPipeline.Result>> call =
        BackgroundCall.start(() -> commands.pipeline().runAllByText(List.of(LONG, LONG), SOON));

    List<ScriptPipeline.Result> results = call.get();

    assertTimeOut(fault(results.get(0)));
    assertEquals(false, fault(results.get(1)).mayHaveExecuted(), "it was not sent");
  }

  private static CommandException fault(ScriptPipeline.Result result) {
    return assertInstanceOf(CommandException.class, result.fault());
  }

  @Test
  void aLongCommandThatIsAnsweredKeepsItsConnection() throws Exception {
    for (int i = 0; i < 3; i++) {
      topology.exchange(0, ECHO, TestSettings.after(MINUTE));
    }

    assertEquals(1, server.connections());
    await().atMost(BackgroundCall.LIVENESS).until(() -> node.connectionsInUse() == 0);
  }
}
