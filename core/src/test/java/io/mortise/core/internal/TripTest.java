package io.mortise.core.internal;

import static io.mortise.core.internal.RespServer.error;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands of many threads that go together. */
@Timeout(60)
class TripTest {
  private static final int MANY = 40;
  private static final Duration LONG = Duration.ofSeconds(20);

  private final CountDownLatch open = new CountDownLatch(1);
  private volatile Function<List<String>, String> answers = TripTest::echo;
  private final RespServer server = new RespServer(this::whenOpen);
  private final Workers workers = new Workers("test");
  private Deployment node;
  private Commands commands;

  /** The number in the name of the lock, as the answer. */
  private static String echo(List<String> command) {
    return ":" + numberIn(command) + "\r\n";
  }

  private static long numberIn(List<String> command) {
    return Long.parseLong(command.get(3).replaceAll("\\D", ""));
  }

  private String whenOpen(List<String> command) {
    try {
      open.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return answers.apply(command);
  }

  private void use(Duration commandTimeout) {
    LockOptions options = LockOptions.builder().commandTimeout(commandTimeout).build();
    node = Connector.servers(server.uri(), options, workers);
    commands = new Commands(node, workers, options);
  }

  @AfterEach
  void everyConnectionWasGivenBack() {
    open.countDown();
    await().atMost(TestThread.LIVENESS).until(() -> node.connectionsInUse() == 0);
    node.close();
    workers.close();
    server.close();
  }

  private TestThread<Reply> ask(int number) {
    return TestThread.startAndPark(() -> commands.run(new FakeProtocol("lock" + number).inspect()));
  }

  /** As many threads as go alone, with commands that are not answered yet. */
  private List<TestThread<Reply>> occupy() {
    List<TestThread<Reply>> first = new ArrayList<>();
    for (int i = 1; i <= Trips.ALONE; i++) {
      int number = i;
      first.add(TestThread.start(() -> commands.run(new FakeProtocol("lock" + number).inspect())));
      int so = i;
      await().atMost(TestThread.LIVENESS).until(() -> server.heard().size() == so);
    }
    return first;
  }

  /** More than those; the rest waits in line. */
  private List<TestThread<Reply>> many() {
    List<TestThread<Reply>> all = occupy();
    for (int i = all.size() + 1; i <= MANY; i++) {
      all.add(ask(i));
    }
    return all;
  }

  private static Fault fault(TestThread<Reply> thread) {
    return (Fault) assertThrows(ExecutionException.class, thread::get).getCause();
  }

  @Test
  void everybodyGetsTheAnswerToItsOwnQuestion() throws Exception {
    use(LONG);

    List<TestThread<Reply>> all = many();

    assertEquals(Trips.ALONE, server.heard().size(), "the others wait");
    assertEquals(Trips.ALONE, node.connectionsInUse());
    open.countDown();
    for (int i = 0; i < MANY; i++) {
      assertEquals(new Reply(i + 1L, null, server.runId()), all.get(i).get());
    }
    assertEquals(MANY, server.heard().size());
    assertEquals(Trips.ALONE, server.connections(), "nobody else has connected");
  }

  @Test
  void anErrorIsForTheOneWhoseAnswerItIs() throws Exception {
    use(LONG);
    answers = command -> numberIn(command) == MANY - 1 ? error("OOM no memory") : echo(command);

    List<TestThread<Reply>> all = many();
    open.countDown();

    assertEquals(Reason.OUT_OF_MEMORY, fault(all.get(MANY - 2)).reason());
    assertEquals((long) MANY, all.get(MANY - 1).get().value());
    assertEquals(MANY - 2L, all.get(MANY - 3).get().value());
  }

  @Test
  void aServerThatHasForgottenTheScriptGetsItsText() throws Exception {
    use(LONG);
    answers =
        command -> command.get(0).equals("EVAL") ? echo(command) : error("NOSCRIPT No script");

    List<TestThread<Reply>> all = many();
    open.countDown();

    for (int i = 0; i < MANY; i++) {
      Reply reply = all.get(i).get();
      assertEquals(i + 1L, reply.value());
      assertFalse(reply.repeated());
    }
  }

  @Test
  void whatWasLostWithAConnectionIsAskedAgain() throws Exception {
    use(LONG);
    AtomicInteger lost = new AtomicInteger();
    answers =
        command ->
            numberIn(command) == MANY - 10 && lost.getAndIncrement() == 0
                ? RespServer.HANG_UP
                : echo(command);

    List<TestThread<Reply>> all = many();
    open.countDown();

    for (int i = 0; i < MANY; i++) {
      assertEquals(i + 1L, all.get(i).get().value());
    }
    assertTrue(all.get(MANY - 11).get().repeated());
    assertFalse(all.get(0).get().repeated(), "it went alone");
  }

  @Test
  void whoseTimeEndsInLineHasSentNothing() throws Exception {
    use(LONG);
    List<TestThread<Reply>> first = occupy();

    Fault late =
        assertThrows(
            Fault.class, () -> commands.run(new FakeProtocol("lock" + MANY).inspect(), 50_000_000));

    assertEquals(Reason.UNREACHABLE, late.reason());
    assertFalse(late.mayHaveRun());
    open.countDown();
    for (TestThread<Reply> each : first) {
      each.get();
    }
    assertEquals(Trips.ALONE, server.heard().size());
  }

  @Test
  void anInterruptEndsNoWaitAndIsNotLost() throws Exception {
    use(LONG);
    occupy();
    TestThread<Boolean> waiter =
        TestThread.startAndPark(
            () -> {
              assertEquals(9L, commands.run(new FakeProtocol("lock9").inspect()).value());
              return Thread.interrupted();
            });

    waiter.interrupt();
    waiter.awaitParked();
    open.countDown();

    assertTrue(waiter.get());
  }

  @Test
  void aServerThatIsGoneIsGoneForAllWhoWait() throws Exception {
    use(LONG);

    List<TestThread<Reply>> all = many();
    server.close();

    for (TestThread<Reply> each : all) {
      assertEquals(Reason.UNREACHABLE, fault(each).reason());
    }
  }
}
