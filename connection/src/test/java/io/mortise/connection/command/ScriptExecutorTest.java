package io.mortise.connection.command;

import static io.mortise.connection.testing.RespServer.error;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ScriptExecutorTest {
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofSeconds(20));
  private static final String NOSCRIPT = error("NOSCRIPT No matching script. Please use EVAL.");
  private static final Script INSPECT = Script.load("lock/inspect");

  private final Set<String> known = ConcurrentHashMap.newKeySet();
  private volatile Function<List<String>, String> answers = this::likeRedis;
  private final RespServer server = new RespServer(command -> answers.apply(command));
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology node = TopologyFactory.create(server.uri(), OPTIONS, workers);
  private final ScriptExecutor commands = new ScriptExecutor(node, workers, OPTIONS);

  @AfterEach
  void close() {
    node.close();
    workers.close();
    server.close();
  }

  /** The answer is the number of the lock; EVALSHA works after the first EVAL of that text. */
  private String likeRedis(List<String> command) {
    if (command.get(0).equals("EVAL")) {
      known.add(command.get(1));
    } else if (known.isEmpty()) {
      return NOSCRIPT;
    }
    return ":" + command.get(3).substring(4) + "\r\n";
  }

  private static ScriptCall inspect(int number) {
    return TestCalls.inspect("lock" + number);
  }

  private List<String> verbs() {
    return server.heard().stream().map(command -> command.get(0)).toList();
  }

  @Test
  void aScriptThatTheServerDoesNotKnowIsSentWithItsText() throws Exception {
    Reply reply = commands.run(inspect(7));

    assertEquals(7L, reply.value());
    assertFalse(reply.repeated());
    assertEquals(
        List.of(
            List.of("EVALSHA", new String(INSPECT.sha1(), UTF_8), "1", "lock7"),
            List.of("EVAL", new String(INSPECT.text(), UTF_8), "1", "lock7")),
        server.heard());
  }

  @Test
  void aKnownScriptIsSentByItsDigestAlsoAfterItWasForgottenInBetween() throws Exception {
    commands.run(inspect(1));
    commands.run(inspect(2));
    known.clear();
    assertEquals(3L, commands.run(inspect(3)).value());

    assertEquals(List.of("EVALSHA", "EVAL", "EVALSHA", "EVALSHA", "EVAL"), verbs());
  }

  @Test
  void manyCallsAreSentOneBehindTheOtherAndWhatIsUnknownOnceMore() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    answers =
        command ->
            command.get(0).equals("EVALSHA") && calls.incrementAndGet() == 2 ? NOSCRIPT : ":1\r\n";
    List<ScriptCall> many = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      many.add(inspect(i));
    }

    commands.pipeline().runAll(many, 20_000_000_000L);

    List<List<String>> texts =
        server.heard().stream().filter(command -> command.get(0).equals("EVAL")).toList();
    assertEquals(0, texts.size(), "the second EVALSHA of the same script succeeded");
    assertEquals(1_201, server.heard().size());
    assertEquals(2, server.heard().stream().filter(c -> c.get(3).equals("lock1")).count());
  }

  @Test
  void aConnectionThatWasClosedMeanwhileIsReplacedAndTheCallerKnowsThatItWasAskedTwice()
      throws Exception {
    known.add("all");
    commands.run(inspect(1));
    AtomicInteger calls = new AtomicInteger();
    answers = command -> calls.incrementAndGet() == 1 ? RespServer.HANG_UP : likeRedis(command);

    Reply reply = commands.run(inspect(2));

    assertEquals(2L, reply.value());
    assertTrue(reply.repeated());
  }

  @Test
  void twoBrokenConnectionsAreAFaultAndTheCommandMayHaveRun() {
    answers = command -> RespServer.HANG_UP;

    CommandException fault = assertThrows(CommandException.class, () -> commands.run(inspect(1)));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(2, server.heard().size());
    assertEquals(0, node.connectionsInUse());
  }

  @Test
  void whatMustNotRunTwiceIsNotSentAgainWhenItsConnectionBreaks() {
    answers = command -> command.get(0).equals("PING") ? "+PONG\r\n" : RespServer.HANG_UP;

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.runAtMostOnce(inspect(1)));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(List.of("PING", "EVALSHA"), verbs());
    assertEquals(0, node.connectionsInUse());
  }

  @Test
  void whatMustNotRunTwiceFindsOutADeadConnectionBeforeItIsSent() throws Exception {
    known.add("all");
    AtomicInteger pings = new AtomicInteger();
    answers =
        command ->
            !command.get(0).equals("PING")
                ? likeRedis(command)
                : pings.incrementAndGet() == 1 ? RespServer.HANG_UP : "+PONG\r\n";

    Reply reply = commands.runAtMostOnce(inspect(2));

    assertEquals(2L, reply.value());
    assertFalse(reply.repeated());
    assertEquals(List.of("PING", "PING", "EVALSHA"), verbs());
  }

  @Test
  void whatMustNotRunTwiceAndIsAtAServerThatIsGoneHasNotRun() {
    answers = command -> RespServer.HANG_UP;

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.runAtMostOnce(inspect(1)));

    assertFalse(fault.mayHaveExecuted());
    assertEquals(List.of("PING", "PING"), verbs());
  }

  @Test
  void whoMayNotPingMayDoTheRest() throws Exception {
    known.add("all");
    answers =
        command ->
            command.get(0).equals("PING")
                ? error("NOPERM this user has no permissions to run the 'ping' command")
                : likeRedis(command);

    assertEquals(3L, commands.runAtMostOnce(inspect(3)).value());
  }

  @Test
  void anErrorReplyIsNotRepeatedAndTheConnectionStaysInUse() throws Exception {
    answers = command -> error("LOADING Redis is loading the dataset in memory");

    CommandException fault = assertThrows(CommandException.class, () -> commands.run(inspect(1)));

    assertEquals(Kind.NOT_READY, fault.kind());
    assertFalse(fault.mayHaveExecuted());
    assertEquals(1, server.heard().size());
    int connected = server.greeted().size();
    answers = command -> ":1\r\n";
    commands.run(inspect(1));
    assertEquals(connected, server.greeted().size(), "no new connection was made");
  }

  @Test
  void anInterruptDoesNotDisturbACommandAndStands() throws Exception {
    known.add("all");
    Thread.currentThread().interrupt();

    assertEquals(5L, commands.run(inspect(5)).value());

    assertTrue(Thread.interrupted());
  }
}
