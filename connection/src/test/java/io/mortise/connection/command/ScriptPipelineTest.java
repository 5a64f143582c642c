package io.mortise.connection.command;

import static io.mortise.connection.testing.RespServer.error;
import static io.mortise.connection.testing.RespServer.integers;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.reflect.Reflection;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.command.ScriptPipeline.Result;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many calls to one server are written in parts that a server which does not read can take. */
@Timeout(60)
class ScriptPipelineTest {
  private static final long LONG_NANOS = 20_000_000_000L;
  private static final long SHORT_NANOS = 1_000_000_000L;
  private static final int MAX_BYTES = 16 * 1024;

  private final AtomicLong hours = new AtomicLong();
  private final ConnectionSettings options =
      new ConnectionSettings(
          64,
          Duration.ofSeconds(20),
          TestSettings.DEFAULTS.durability(),
          TestSettings.DEFAULTS.security(),
          new LaterTicker(),
          TestSettings.DEFAULTS.random());
  private volatile Function<List<String>, String> answers = ScriptPipelineTest::number;
  private final CountDownLatch resumed = new CountDownLatch(1);
  private final RespServer server = new RespServer(command -> answers.apply(command));
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology node = TopologyFactory.create(server.uri(), options, workers);
  private final ScriptPipeline pipeline = new ScriptExecutor(node, workers, options).pipeline();

  private final class LaterTicker extends Ticker {
    @Override
    public long read() {
      return System.nanoTime() + Duration.ofHours(hours.get()).toNanos();
    }
  }

  @AfterEach
  void close() {
    resumed.countDown();
    node.close();
    workers.close();
    server.close();
  }

  /** Answers with the number before the first '-' of the key. */
  private static String number(List<String> command) {
    return ":" + numberIn(command.get(3)) + "\r\n";
  }

  private static long numberIn(String key) {
    return Long.parseLong(key.substring(0, key.indexOf('-')));
  }

  /** Answers each item of a batch with the number of its first key. */
  private static String numbers(List<String> command) {
    int keys = Integer.parseInt(command.get(2));
    return integers(
        IntStream.range(0, keys / 2).mapToObj(i -> numberIn(command.get(3 + 2 * i))).toList());
  }

  private static List<ScriptCall> inspections(int count, int bytes) {
    return IntStream.range(0, count)
        .mapToObj(i -> TestCalls.inspect(i + "-" + "x".repeat(bytes)))
        .toList();
  }

  private static List<ScriptCall> renewals(int count, int bytes) {
    return IntStream.range(0, count)
        .mapToObj(i -> TestCalls.renew(i + "-", "h".repeat(bytes), 1000))
        .toList();
  }

  private String stopReading(List<String> command) {
    Uninterruptibles.awaitUninterruptibly(resumed);
    return number(command);
  }

  private static void assertNumbers(List<Result> results) {
    assertEquals(
        LongStream.range(0, results.size()).boxed().toList(),
        results.stream().map(result -> result.reply().value()).toList());
  }

  private static void assertOnlyTheFirstMayHaveRun(List<Result> results, int maxWritten) {
    for (int i = 0; i < results.size(); i++) {
      CommandException fault = results.get(i).fault();
      assertNotNull(fault);
      assertEquals(Kind.UNREACHABLE, fault.kind());
      assertTrue(fault.isTimeOut());
      if (i == 0 || i >= maxWritten) {
        assertEquals(i == 0, fault.mayHaveExecuted(), "call " + i);
      }
    }
  }

  /** Makes the connection, so that the time of a test is not used up by that. */
  private void connect() {
    assertNumbers(pipeline.runAll(inspections(1, 1), LONG_NANOS));
    server.heard().clear();
  }

  @Test
  void aServerThatDoesNotReadBlocksNoCallBeyondItsDeadline() throws Exception {
    connect();
    answers = this::stopReading;
    List<ScriptCall> calls = inspections(500, 15_000);

    List<Result> results =
        BackgroundCall.start(() -> pipeline.runAllByText(calls, SHORT_NANOS)).get();

    assertEquals(500, results.size());
    assertOnlyTheFirstMayHaveRun(results, 2);
  }

  @Test
  void aServerThatDoesNotReadBlocksNoBatchBeyondItsDeadline() throws Exception {
    connect();
    answers = this::stopReading;
    List<ScriptCall> items = renewals(500, 15_000);

    List<Result> results = BackgroundCall.start(() -> pipeline.runBatch(items, SHORT_NANOS)).get();

    assertEquals(500, results.size());
    assertOnlyTheFirstMayHaveRun(results, 2);
  }

  @Test
  void callsAreWrittenWhenThoseBeforeAreAnsweredAndTheOthersHaveNotRun() {
    connect();
    answers = command -> RespServer.SILENCE;

    List<Result> results = pipeline.runAll(inspections(100, 1_000), SHORT_NANOS);

    int written = (int) results.stream().filter(ScriptPipelineTest::mayHaveExecuted).count();
    assertTrue(written > 1 && written * 1_000 < MAX_BYTES, written + " were written");
    assertTrue(server.heard().size() <= written);
    for (int i = 0; i < results.size(); i++) {
      assertEquals(i < written, mayHaveExecuted(results.get(i)), "call " + i);
      assertEquals(i < written ? 1 : 0, results.get(i).fault().unansweredAttempts());
    }
  }

  private static boolean mayHaveExecuted(Result result) {
    assertNotNull(result.fault());
    return result.fault().mayHaveExecuted();
  }

  /** By the clock of the client an hour passes after the replies to the first part were read. */
  @Test
  void whenTheTimeEndsBetweenPartsTheRestIsNotSent() {
    ScriptPipeline late = new ScriptExecutor(anHourAfterEach(), workers, options).pipeline();

    List<Result> results = late.runAll(inspections(100, 1_000), LONG_NANOS);

    int written = server.heard().size();
    assertTrue(written > 1 && written * 1_000 < MAX_BYTES, written + " were written");
    assertNumbers(results.subList(0, written));
    for (Result unsent : results.subList(written, 100)) {
      CommandException fault = unsent.fault();
      assertNotNull(fault);
      assertTrue(fault.isTimeOut());
      assertFalse(fault.mayHaveExecuted());
    }
  }

  /** Returns the topology with a clock that stands an hour later after each exchange. */
  private Topology anHourAfterEach() {
    return Reflection.newProxy(
        Topology.class,
        (proxy, method, arguments) -> {
          Object result = method.invoke(node, arguments);
          if (method.getName().equals("exchange")) {
            hours.incrementAndGet();
          }
          return result;
        });
  }

  @Test
  void eachCallGetsItsOwnAnswerInWhateverPartItIs() {
    assertNumbers(pipeline.runAll(inspections(500, 100), LONG_NANOS));
    assertNumbers(pipeline.runAllByText(inspections(500, 100), LONG_NANOS));

    answers = ScriptPipelineTest::numbers;
    assertNumbers(pipeline.runBatch(renewals(500, 100), LONG_NANOS));
  }

  @Test
  void aCommandForManyItemsIsNoLongerThanTheBound() {
    answers = ScriptPipelineTest::numbers;

    pipeline.runBatch(renewals(500, 100), LONG_NANOS);

    assertTrue(server.heard().size() > 1);
    for (List<String> command : server.heard()) {
      assertTrue(command.stream().mapToInt(String::length).sum() < MAX_BYTES);
    }
  }

  @Test
  void aCallThatIsLongerThanTheBoundIsSentAlone() {
    List<ScriptCall> calls =
        List.of(
            TestCalls.inspect("0-"),
            TestCalls.inspect("1-" + "x".repeat(2 * MAX_BYTES)),
            TestCalls.inspect("2-"));

    assertNumbers(pipeline.runAll(calls, LONG_NANOS));
    assertNumbers(pipeline.runAllByText(calls, LONG_NANOS));

    answers = ScriptPipelineTest::numbers;
    assertNumbers(
        pipeline.runBatch(
            List.of(
                TestCalls.renew("0-", "h", 1000),
                TestCalls.renew("1-" + "x".repeat(2 * MAX_BYTES), "h", 1000),
                TestCalls.renew("2-", "h", 1000)),
            LONG_NANOS));
  }

  @Test
  void eachPartBringsTheTextOfItsScript() {
    pipeline.runAllByText(inspections(100, 1_000), LONG_NANOS);

    List<String> verbs = server.heard().stream().map(command -> command.get(0)).toList();
    long texts = verbs.stream().filter("EVAL"::equals).count();
    assertEquals("EVAL", verbs.get(0));
    assertTrue(texts > 1 && texts < verbs.size() / 2, texts + " texts");
  }

  @Test
  void aConnectionThatBreaksBetweenPartsRepeatsTheUnansweredPartAlone() {
    AtomicInteger commands = new AtomicInteger();
    answers = command -> commands.incrementAndGet() == 40 ? RespServer.HANG_UP : number(command);

    List<Result> results = pipeline.runAll(inspections(100, 1_000), LONG_NANOS);

    assertNumbers(results);
    assertFalse(results.get(0).reply().repeated());
    assertTrue(results.get(39).reply().repeated());
    assertFalse(results.get(99).reply().repeated());
  }

  @Test
  void anErrorThatAnswersARepeatedPartLeavesItsFirstTryInDoubt() {
    AtomicInteger commands = new AtomicInteger();
    answers =
        command -> commands.incrementAndGet() == 1 ? RespServer.HANG_UP : error("OOM on purpose");

    for (Result result : pipeline.runAll(inspections(2, 1), LONG_NANOS)) {
      CommandException fault = result.fault();
      assertNotNull(fault);
      assertEquals(Kind.OUT_OF_MEMORY, fault.kind());
      assertTrue(fault.mayHaveExecuted());
      assertEquals(1, fault.unansweredAttempts());
    }
  }

  @Test
  void aScriptThatIsForgottenBetweenPartsIsSentAgain() {
    AtomicInteger commands = new AtomicInteger();
    answers =
        command ->
            command.get(0).equals("EVALSHA") && commands.incrementAndGet() >= 40
                ? error("NOSCRIPT No matching script. Please use EVAL.")
                : number(command);

    assertNumbers(pipeline.runAll(inspections(100, 1_000), LONG_NANOS));
  }

  @Test
  void aRefusalOfOnePartDoesNotEndTheOthers() {
    answers =
        command ->
            numberIn(command.get(3)) == 0
                ? error("LOADING Redis is loading the dataset in memory")
                : numbers(command);

    List<Result> results = pipeline.runBatch(renewals(500, 100), LONG_NANOS);

    CommandException fault = results.get(0).fault();
    assertNotNull(fault);
    assertEquals(Kind.NOT_READY, fault.kind());
    assertEquals(499L, results.get(499).reply().value());
  }

  /** Its other connections are of no use either. */
  @Test
  void aServerThatTakesNoWritesIsConnectedToAnew() {
    connect();
    answers = command -> error("READONLY You can't write against a read only replica.");

    List<Result> results = pipeline.runAll(inspections(3, 1), LONG_NANOS);

    for (Result result : results) {
      CommandException fault = result.fault();
      assertNotNull(fault);
      assertEquals(Kind.READ_ONLY, fault.kind());
      assertFalse(fault.mayHaveExecuted());
    }
    await().atMost(BackgroundCall.LIVENESS).until(() -> server.connections() == 0);
  }
}
