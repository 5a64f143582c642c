package io.mortise.connection.topology;

import static io.mortise.connection.testing.RespServer.error;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.command.ScriptExchange;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pipeline.CombinerLimits;
import io.mortise.connection.pipeline.CommandCombiner;
import io.mortise.connection.pipeline.PipelineTransport;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionLender;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.pool.SocketBuffers;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.connection.testing.TestSettings;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Commands of many threads in one batch. */
@Timeout(60)
class PipelineTransportTest {
  private static final int MANY = 40;
  private static final long LONG = 20_000_000_000L;
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofNanos(LONG));

  private final CountDownLatch open = new CountDownLatch(1);
  private volatile Function<List<String>, String> answers = PipelineTransportTest::echo;
  private final RespServer server = new RespServer(this::whenOpen);
  private final ConnectionPool connections = TestNodes.connections(server, OPTIONS);
  private final RedisNode node = new RedisNode(server.address(), connections);
  private final ConnectionLender lender = new ConnectionLender(server.address(), connections);
  private final WorkerPool workers = new WorkerPool("test");
  private final Topology topology = new SingleNodeTopology(node, workers);
  private final CommandCombiner combiner =
      PipelineTransport.to(lender, new CombinerLimits(1, LONG));
  private final ScriptExecutor commands = new ScriptExecutor(topology, workers, OPTIONS);

  /** The number in the name of the lock, as the answer. */
  private static String echo(List<String> command) {
    return ":" + numberIn(command) + "\r\n";
  }

  private static long numberIn(List<String> command) {
    return Long.parseLong(command.get(3).replaceAll("\\D", ""));
  }

  private String whenOpen(List<String> command) {
    awaitOver(open);
    return answers.apply(command);
  }

  private static void awaitOver(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void everyConnectionWasGivenBack() {
    open.countDown();
    await().atMost(BackgroundCall.LIVENESS).until(() -> node.connectionsInUse() == 0);
    topology.close();
    lender.close();
    workers.close();
    server.close();
  }

  /** With the limits of every client. */
  private Reply ask(int number) throws CommandException {
    return commands.run(TestCalls.inspect("lock" + number));
  }

  /** With one batch at a time, however long that takes. */
  private Reply submit(int number) throws CommandException {
    ScriptRequest request = ScriptRequest.of(TestCalls.inspect("lock" + number));
    return PipelineTransport.run(
        combiner, new ScriptExchange(request, topology), TestSettings.after(LONG));
  }

  /** One command in a batch of its own, and the others that wait for the next batch, in order. */
  private List<BackgroundCall<Reply>> together(int count) {
    List<BackgroundCall<Reply>> all = new ArrayList<>();
    all.add(BackgroundCall.start(() -> submit(1)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> server.heard().size() == 1);
    for (int i = 2; i <= count; i++) {
      int number = i;
      all.add(BackgroundCall.startAndPark(() -> submit(number)));
    }
    return all;
  }

  private static CommandException fault(BackgroundCall<Reply> thread) {
    return (CommandException) assertThrows(ExecutionException.class, thread::get).getCause();
  }

  private void assertAllAsked() throws Exception {
    List<BackgroundCall<Reply>> all = new ArrayList<>();
    for (int i = 1; i <= MANY; i++) {
      int number = i;
      all.add(BackgroundCall.start(() -> ask(number)));
    }
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> server.heard().size() >= CombinerLimits.DEFAULT_MAX_BATCHES);
    open.countDown();
    for (int i = 0; i < MANY; i++) {
      assertEquals(i + 1L, all.get(i).get().value());
    }
  }

  @Test
  void everybodyGetsTheAnswerToItsOwnQuestion() throws Exception {
    List<BackgroundCall<Reply>> all = together(MANY);

    open.countDown();

    for (int i = 0; i < MANY; i++) {
      assertEquals(new Reply(i + 1L, null, server.runId()), all.get(i).get());
    }
    assertEquals(MANY, server.heard().size());
    assertEquals(1, server.connections());
  }

  @Test
  void anErrorIsForTheOneWhoseAnswerItIs() throws Exception {
    answers = command -> numberIn(command) == 3 ? error("OOM no memory") : echo(command);
    List<BackgroundCall<Reply>> all = together(4);

    open.countDown();

    assertEquals(2L, all.get(1).get().value());
    assertEquals(Kind.OUT_OF_MEMORY, fault(all.get(2)).kind());
    assertEquals(4L, all.get(3).get().value());
    assertEquals(1, server.connections());
  }

  @Test
  void aConnectionThatBreaksIsLostToAllWhoseAnswersHaveNotCome() throws Exception {
    answers = command -> numberIn(command) == 3 ? RespServer.HANG_UP : echo(command);
    List<BackgroundCall<Reply>> all = together(5);

    open.countDown();

    assertEquals(2L, all.get(1).get().value());
    for (BackgroundCall<Reply> lost : all.subList(2, 5)) {
      assertTrue(fault(lost).isBrokenConnection());
      assertTrue(fault(lost).mayHaveExecuted());
    }
  }

  @Test
  void aServerThatTakesNoWritesIsConnectedToAnew() throws Exception {
    answers = command -> numberIn(command) == 3 ? error("READONLY a replica") : echo(command);
    List<BackgroundCall<Reply>> all = together(3);

    open.countDown();

    assertEquals(Kind.READ_ONLY, fault(all.get(2)).kind());
    await().atMost(BackgroundCall.LIVENESS).until(() -> server.connections() == 0);
  }

  @Test
  void anInterruptEndsNoWaitAndIsNotLost() throws Exception {
    together(1);
    BackgroundCall<Boolean> waiter =
        BackgroundCall.startAndPark(
            () -> {
              assertEquals(2L, submit(2).value());
              return Thread.interrupted();
            });

    waiter.interrupt();
    waiter.awaitParked();
    open.countDown();

    assertTrue(waiter.get());
  }

  @Test
  void aLongCommandGoesAloneAndBreaksNothing() throws Exception {
    answers =
        command -> command.get(0).equals("EVAL") ? echo(command) : error("NOSCRIPT No script");
    List<BackgroundCall<Reply>> all = together(MANY);

    open.countDown();

    for (int i = 0; i < MANY; i++) {
      assertEquals(new Reply(i + 1L, null, server.runId()), all.get(i).get());
    }
  }

  /** A server whose connection was closed at the deadline, and has connected again meanwhile. */
  private static final class LateServer extends ConnectionLender {
    LateServer(String address, ConnectionPool connections) {
      super(address, connections);
    }

    @Override
    public <T> T onThread(
        Connection connection, int bytes, Deadline deadline, Supplier<T> exchange) {
      var unused = exchange.get();
      throw new JedisConnectionException(new SocketTimeoutException("on purpose"));
    }
  }

  /** It may be the answer of another database. */
  @Test
  void anAnswerToALongCommandThatIsTooLateIsNotDelivered() {
    open.countDown();
    CommandCombiner late = PipelineTransport.to(new LateServer(server.address(), connections));
    String name = "lock1" + "x".repeat(SocketBuffers.MIN_BYTES);
    ScriptExchange command =
        new ScriptExchange(ScriptRequest.of(TestCalls.inspect(name)), topology);

    CommandException thrown =
        assertThrows(
            CommandException.class,
            () -> PipelineTransport.run(late, command, TestSettings.after(LONG)));

    assertTrue(thrown.isTimeOut());
    assertEquals(1, server.heard().size());
  }

  @Test
  void nobodyWaitsForAServerThatIsGoneInTheTimeOfAnother() throws Exception {
    List<BackgroundCall<Reply>> all = together(4);

    server.close();
    open.countDown();

    for (BackgroundCall<Reply> each : all) {
      assertTrue(fault(each).isBrokenConnection());
    }
  }

  @Test
  void manyThreadsAreAnsweredWhileTheServerIsSlow() throws Exception {
    assertAllAsked();
    assertEquals(MANY, server.heard().size());
  }

  @Test
  void whatWasLostWithAConnectionIsAskedAgain() throws Exception {
    AtomicInteger lost = new AtomicInteger();
    answers =
        command ->
            numberIn(command) == MANY && lost.getAndIncrement() == 0
                ? RespServer.HANG_UP
                : echo(command);

    assertAllAsked();
    assertFalse(lost.get() < 2);
  }
}
