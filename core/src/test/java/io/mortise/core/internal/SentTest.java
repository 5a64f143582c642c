package io.mortise.core.internal;

import static io.mortise.core.internal.RespServer.error;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A script whose answer is read later. */
@Timeout(60)
class SentTest {
  private static final String YES = ":1\r\n";

  private volatile Function<List<String>, String> answers = command -> YES;
  private final RespServer server = new RespServer(command -> answers.apply(command));
  private final Workers workers = new Workers("test");
  private final CountDownLatch answered = new CountDownLatch(1);
  private Deployment node;
  private Commands commands;

  @BeforeEach
  void connect() {
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(20)).connections(1).build());
  }

  private void use(LockOptions options) {
    node = Connector.servers(server.uri(), options, workers);
    commands = new Commands(node, workers, options);
  }

  @AfterEach
  void everyConnectionWasGivenBack() {
    answered.countDown();
    assertEquals(0, node.connectionsInUse());
    node.close();
    workers.close();
    server.close();
  }

  private static ScriptCall call() {
    return new FakeProtocol("lock").inspect();
  }

  /** Makes the connection that is to lie idle. */
  private void warm() throws Fault {
    commands.run(call());
  }

  private String whenLetGo(List<String> command) {
    try {
      answered.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return YES;
  }

  private Sent sent() {
    Sent sent = commands.send(call());
    assertNotNull(sent);
    return sent;
  }

  @Test
  void theAnswerIsThereWhenItIs() throws Exception {
    warm();
    answers = this::whenLetGo;

    Sent sent = sent();

    assertFalse(sent.hasArrived());
    assertEquals(1, node.connectionsInUse());
    answered.countDown();
    await().atMost(TestThread.LIVENESS).until(sent::hasArrived);
    assertEquals(new Reply(1L, null, server.runId()), sent.receive());
  }

  @Test
  void anotherThreadCanWaitForIt() throws Exception {
    warm();
    answers = this::whenLetGo;
    Sent sent = sent();

    TestThread<Reply> waiter = TestThread.start(sent::receive);

    answered.countDown();
    assertEquals(1L, waiter.get().value());
  }

  @Test
  void anInterruptIsKeptForLater() throws Exception {
    warm();
    Thread.currentThread().interrupt();

    Sent sent = sent();
    Reply reply = sent.receive();

    assertTrue(Thread.interrupted());
    assertEquals(1L, reply.value());
  }

  @Test
  void aServerThatDoesNotKnowTheScriptGetsItsText() throws Exception {
    warm();
    answers = command -> command.get(0).equals("EVAL") ? YES : error("NOSCRIPT No matching script");

    assertFalse(sent().receive().repeated());
  }

  @Test
  void aConnectionThatDiesIsReplacedAndTheAnswerMayBeTheSecond() throws Exception {
    warm();
    AtomicInteger asked = new AtomicInteger();
    answers = command -> asked.incrementAndGet() == 1 ? RespServer.HANG_UP : YES;

    Reply reply = sent().receive();
    assertEquals(1L, reply.value());
    assertTrue(reply.repeated());
    assertTrue(reply.isBySameServer());
  }

  @Test
  void anErrorIsAFault() throws Exception {
    warm();
    answers = command -> error("OOM command not allowed");

    Sent sent = sent();

    assertEquals(Reason.OUT_OF_MEMORY, assertThrows(Fault.class, sent::receive).reason());
  }

  @Test
  void silenceIsAFaultAfterTheTimeOfACommand() throws Exception {
    node.close();
    use(LockOptions.builder().commandTimeout(Duration.ofMillis(100)).connections(1).build());
    warm();
    answers = command -> RespServer.SILENCE;

    Sent sent = sent();
    Fault fault = assertThrows(Fault.class, sent::receive);

    assertEquals(Reason.UNREACHABLE, fault.reason());
    assertTrue(fault.mayHaveRun());
  }

  @Test
  void nothingIsSentWithoutAnIdleConnection() throws Exception {
    assertNull(commands.send(call()), "not connected yet");
    warm();
    Sent first = sent();

    assertNull(commands.send(call()), "the only one is in use");

    assertEquals(1L, first.receive().value());
  }

  @Test
  void nothingIsSentWhenTheClientIsClosed() throws Exception {
    warm();
    node.close();

    assertNull(commands.send(call()));
  }
}
