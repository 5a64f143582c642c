package io.mortise.connection.command;

import static io.mortise.connection.testing.RespServer.error;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptPipeline.Result;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many calls to a cluster whose nodes refuse some of them, because slots are moving. */
@Timeout(60)
class RedirectedRequestsTest {
  private static final String TRY_AGAIN = error("TRYAGAIN Multiple keys request during rehashing");
  private static final String HALFWAY =
      error("ERR Script attempted to access a non local key in a cluster node");

  private static final long LIMIT_NANOS = 2_000_000_000L;

  /** How long an answer takes; less than the least time that many calls get. */
  private static final long ANSWER_NANOS = 60_000_000L;

  private final FakeCluster fake = new FakeCluster(1);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology servers =
      TopologyFactory.create(fake.uri(), TestSettings.DEFAULTS, workers);
  private final ScriptPipeline pipeline =
      new ScriptExecutor(servers, workers, TestSettings.DEFAULTS).pipeline();

  /** How often each name was sent. */
  private final Map<String, Integer> sent = new ConcurrentHashMap<>();

  @AfterEach
  void close() {
    servers.close();
    workers.close();
    fake.close();
  }

  /** Counts a command; returns how often its name was sent. */
  private int count(List<String> command) {
    return sent.merge(command.get(3), 1, Integer::sum);
  }

  private static List<String> namesOf(String... slots) {
    return Stream.of(slots)
        .flatMap(slot -> IntStream.range(0, 20).mapToObj(i -> "{" + slot + "}-" + i))
        .toList();
  }

  private List<Result> run(List<String> names) {
    List<ScriptCall> calls = names.stream().map(TestCalls::inspect).toList();
    return pipeline.runAll(calls, LIMIT_NANOS);
  }

  @Test
  void oneRequestOfASlotThatMovesUntilTheEndIsSentAgainAndNotEachOfThem() {
    fake.answer(
        0,
        command -> {
          count(command);
          return TRY_AGAIN;
        });
    List<String> names = namesOf("moving");

    List<Result> results = run(names);

    assertTrue(sent.get(names.get(0)) > 1);
    for (int i = 0; i < names.size(); i++) {
      CommandException fault = results.get(i).fault();
      assertNotNull(fault);
      assertEquals(Kind.NOT_READY, fault.kind());
      assertTrue(fault.isServerReply());
      if (i > 0) {
        assertFalse(fault.mayHaveExecuted());
        assertEquals(1, sent.get(names.get(i)), names.get(i));
      }
    }
  }

  /** As after a failover, when the former master redirects the requests of all its slots. */
  @Test
  void allThatAreSentAgainHaveOneTimeLimit() {
    FakeTicker ticker = new FakeTicker();
    try (Topology slow = TopologyFactory.create(fake.uri(), TestSettings.by(ticker), workers)) {
      fake.answer(
          0,
          command -> {
            String name = command.get(3);
            if (count(command) == 1) {
              return fake.moved(name, 0);
            }
            ticker.advance(ANSWER_NANOS);
            return ":7\r\n";
          });
      List<String> names = namesOf("a", "b", "c", "d");

      List<Result> results =
          new ScriptExecutor(slow, workers, TestSettings.by(ticker))
              .pipeline()
              .runAll(names.stream().map(TestCalls::inspect).toList(), LIMIT_NANOS);

      int inTime = (int) (LIMIT_NANOS / ANSWER_NANOS);
      results.subList(0, inTime).forEach(result -> assertNull(result.fault()));
      for (int i = inTime + 1; i < names.size(); i++) { // the time ends during the one before
        CommandException fault = results.get(i).fault();
        assertNotNull(fault, names.get(i));
        assertTrue(fault.isTimeOut());
        assertFalse(fault.mayHaveExecuted());
        assertEquals(1, sent.get(names.get(i)), names.get(i));
      }
    }
  }

  /** The node sends those of the first slot to itself until the client gives up. */
  @Test
  void theRequestsOfAnotherSlotAreSentAgain() {
    fake.answer(
        0,
        command -> {
          String name = command.get(3);
          boolean redirected = count(command) == 1 || name.contains("moving");
          return redirected ? fake.moved(name, 0) : ":7\r\n";
        });
    List<String> names = namesOf("moving", "moved");

    List<Result> results = run(names);

    assertTrue(sent.get(names.get(0)) > 1);
    for (int i = 1; i < 20; i++) {
      assertEquals(1, sent.get(names.get(i)), names.get(i));
    }
    for (Result other : results.subList(20, 40)) {
      assertNull(other.fault());
      assertEquals(7L, other.reply().value());
      assertFalse(other.reply().repeated());
    }
  }

  @Test
  void aNodeThatFallsSilentGetsNoMoreOfThem() {
    fake.answer(0, command -> count(command) == 1 ? TRY_AGAIN : RespServer.HANG_UP);
    List<String> names = namesOf("moving", "moved");

    List<Result> results = run(names);

    for (int i = 0; i < names.size(); i++) {
      CommandException fault = results.get(i).fault();
      assertNotNull(fault);
      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertEquals(i == 0, fault.mayHaveExecuted(), names.get(i));
      assertEquals(i > 0, sent.get(names.get(i)) == 1, names.get(i));
    }
  }

  /** Such a script has found its first keys, and may have changed them. */
  @Test
  void aScriptThatMetAMovingKeyHalfwayMayHaveRun() {
    fake.answer(
        0,
        command -> count(command) == 1 || command.get(3).contains("moving") ? HALFWAY : ":7\r\n");
    List<String> names = namesOf("moved", "moving");

    List<Result> results = run(names);

    for (Result later : results.subList(0, 20)) {
      assertNull(later.fault());
      assertTrue(later.reply().repeated());
    }
    for (Result never : results.subList(20, 40)) {
      assertNotNull(never.fault());
      assertTrue(never.fault().mayHaveExecuted());
    }
  }
}
