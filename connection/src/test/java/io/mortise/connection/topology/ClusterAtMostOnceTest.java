package io.mortise.connection.topology;

import static io.mortise.connection.testing.RespServer.HANG_UP;
import static io.mortise.connection.testing.RespServer.error;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.BatchItem;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestCalls;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A command that must not run twice on a cluster is sent twice only when a node replies that it has
 * not run it.
 */
@Timeout(60)
class ClusterAtMostOnceTest extends ClusterFixture {
  @Test
  void whoseAnswerIsLostIsNotSentToTheNewMasterToo() throws Exception {
    commands.run(inspect);
    fake.answer(0, command -> HANG_UP);
    fake.tell(1, 1);

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.runAtMostOnce(inspect));

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(List.of("EVALSHA", "PING", "EVALSHA"), fake.said(0));
    assertEquals(List.of(), fake.said(1));
  }

  @Test
  void aRedirectionHasNotRunIt() throws Exception {
    fake.answer(0, command -> fake.moved(name, 1));

    assertEquals(1L, commands.runAtMostOnce(inspect).value());

    assertEquals(List.of("PING", "EVALSHA"), fake.said(0));
    assertEquals(List.of("PING", "EVALSHA"), fake.said(1));
  }

  @Test
  void aDeadNodeHasNotRunIt() throws Exception {
    commands.run(inspect);
    fake.tell(1, 1);
    fake.node(0).close();

    assertFalse(commands.runAtMostOnce(inspect).repeated());

    assertEquals(List.of("EVALSHA"), fake.said(0));
    assertEquals(List.of("PING", "EVALSHA"), fake.said(1));
  }

  @Test
  void whatFailedAtAKeyThatWasGoneHalfwayIsNotSentAgain() {
    fake.answer(0, c -> error("ERR Script attempted to access a non local key in a cluster node"));

    CommandException fault =
        assertThrows(CommandException.class, () -> commands.runAtMostOnce(inspect));

    assertEquals(Kind.NOT_READY, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertEquals(1, fake.heard("EVALSHA"));
  }

  @Test
  void ofManyCallsOnlyTheOneThatBelongsElsewhereIsSentAgain() {
    servers.refresh();
    String gone = fake.nameAt(0, 2);
    String there = fake.nameAt(1, 3);
    fake.answer(0, command -> command.get(3).equals(gone) ? fake.moved(gone, 1) : ":0\r\n");
    List<ScriptCall> calls = Stream.of(name, gone, there).map(n -> TestCalls.inspect(n)).toList();

    List<ScriptPipeline.Result> answers = commands.pipeline().runAll(calls, LONG_NANOS);

    assertEquals(List.of(0L, 1L, 1L), answers.stream().map(a -> a.reply().value()).toList());
    assertEquals(1, heard(0, name));
    assertEquals(1, heard(1, there));
    assertEquals(1, heard(1, gone), "the other node has refused it");
  }

  @Test
  void ofCallsInSeveralPartsOnlyThoseThatBelongElsewhereAreSentAgain() {
    servers.refresh();
    String gone = fake.nameAt(0, 2);
    fake.answer(0, command -> command.get(3).contains(gone) ? fake.moved(gone, 1) : ":0\r\n");
    List<ScriptCall> calls =
        IntStream.range(0, 60)
            .mapToObj(i -> "{" + (i % 20 == 7 ? gone : name) + "}" + "x".repeat(1_000) + i)
            .map(TestCalls::inspect)
            .toList();

    List<ScriptPipeline.Result> answers = commands.pipeline().runAll(calls, LONG_NANOS);

    assertEquals(
        IntStream.range(0, 60).mapToObj(i -> i % 20 == 7 ? 1L : 0L).toList(),
        answers.stream().map(a -> a.reply().value()).toList());
    assertEquals(3, fake.said(1).size());
  }

  private long heard(int node, String lock) {
    return fake.node(node).heard().stream().filter(command -> command.contains(lock)).count();
  }

  @Test
  void whatIsDueIsOneRoundTripForEachNodeAndOneCallForEachSlot() {
    servers.refresh();
    List<ScriptCall> renewals =
        Stream.of(0, 0, 0, 1, 1)
            .map(node -> TestCalls.renew("{" + fake.nameAt(node, 1) + "}", "h1", 1000))
            .toList();
    fake.answer(0, command -> RespServer.integers(List.of(1L, 0L, 2L)));
    fake.answer(1, command -> RespServer.integers(List.of(1L, 1L)));

    List<ScriptPipeline.Result> answers = commands.pipeline().runBatch(renewals, LONG_NANOS);

    assertEquals(
        List.of(1L, 0L, 2L, 1L, 1L), answers.stream().map(a -> a.reply().value()).toList());
    assertEquals(List.of("EVALSHA"), fake.said(0));
    assertEquals(List.of("EVALSHA"), fake.said(1));
  }

  @Test
  void whatCannotBeSentForWantOfThreadsIsToldForEachNode() {
    servers.refresh();
    AtomicInteger failed = new AtomicInteger();
    try (WorkerPool none = new WorkerPool("none", ClusterAtMostOnceTest::noThread)) {
      BatchCollector batches = new BatchCollector(commands, none, Ticker.systemTicker());
      batches.add(new Due(TestCalls.renew(name, "h1", 1000), failed));
      batches.add(new Due(TestCalls.renew(fake.nameAt(1, 1), "h1", 1000), failed));

      batches.flush();
    }
    assertEquals(2, failed.get(), "otherwise a renewal would be under way for ever");
  }

  private static Thread noThread(Runnable task, String name) {
    throw new OutOfMemoryError("unable to create native thread (on purpose)");
  }

  private record Due(ScriptCall call, AtomicInteger failed) implements BatchItem {
    @Override
    public boolean isWanted() {
      return true;
    }

    @Override
    public long deadlineNanos() {
      return 0;
    }

    @Override
    public long withinNanos() {
      return LONG_NANOS;
    }

    @Override
    public void onReply(long answer, long sentNanos) {
      throw new IllegalStateException("nothing was sent");
    }

    @Override
    public void onFailure(CommandException fault) {
      assertEquals(Kind.POOL_EXHAUSTED, fault.kind());
      failed.incrementAndGet();
    }
  }
}
