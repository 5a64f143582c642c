package io.mortise.connection.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.TestSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Which threads send a batch, and which commands are in it. */
@Timeout(60)
class CommandCombinerTest {
  private static final long LONG = 20_000_000_000L;

  private static final String FIRST = "its thread has sent the batch";
  private static final String OTHER = "another thread has sent the batch";

  private final BlockingQueue<Batch> batches = new LinkedBlockingQueue<>();
  private CommandCombiner combiner =
      new CommandCombiner("the server", new CombinerLimits(1, LONG), this::send);

  /** A batch under way, which ends when the test says so. */
  private record Batch(PendingCommand first, List<PendingCommand> others, CountDownLatch over) {
    void finish() {
      over.countDown();
    }
  }

  private void send(PendingCommand first, Supplier<List<PendingCommand>> others) {
    Batch batch = new Batch(first, others.get(), new CountDownLatch(1));
    batches.add(batch);
    try {
      batch.over.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    first.answer(new Reply(FIRST, null, null));
    batch.others.forEach(each -> each.answer(new Reply(OTHER, null, null)));
  }

  @AfterEach
  void endAllBatches() {
    batches.forEach(Batch::finish);
  }

  private Object submit(long nanos, int bytes) throws CommandException {
    return combiner
        .submit(
            new PendingCommand(
                new CommandArguments(Command.PING), bytes, TestSettings.after(nanos)))
        .value();
  }

  private BackgroundCall<Object> start(long nanos) {
    return BackgroundCall.startAndPark(() -> submit(nanos, 100));
  }

  private static CommandException fault(BackgroundCall<?> thread) {
    return (CommandException) assertThrows(ExecutionException.class, thread::get).getCause();
  }

  @Test
  void aFewAreSentAlone() throws Exception {
    combiner = new CommandCombiner("the server", new CombinerLimits(2, LONG), this::send);
    start(LONG);
    start(LONG);

    assertTrue(batches.take().others().isEmpty());
    assertTrue(batches.take().others().isEmpty());
  }

  @Test
  void waitingCommandsAreSentWithTheNextBatch() throws Exception {
    combiner = new CommandCombiner("the server", new CombinerLimits(2, LONG), this::send);
    List<BackgroundCall<Object>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.add(start(LONG));
    }
    Batch first = batches.take();
    Batch second = batches.take();
    assertTrue(batches.isEmpty(), "two at a time");
    first.finish();

    Batch together = batches.take();

    assertEquals(3, together.others().size());
    together.finish();
    second.finish();
    List<Object> how = new ArrayList<>();
    for (BackgroundCall<Object> each : all) {
      how.add(each.get());
    }
    assertEquals(List.of(FIRST, FIRST, FIRST, OTHER, OTHER, OTHER), how);
  }

  @Test
  void aCommandWhoseTimeEndsDuringItsBatchMayHaveRun() throws Exception {
    BackgroundCall<Object> first = start(LONG);
    BackgroundCall<Object> sender = start(LONG);
    BackgroundCall<Object> late = start(2_000_000_000);
    batches.take().finish();
    first.get();
    Batch together = batches.take();
    assertEquals(1, together.others().size());

    CommandException fault = fault(late);

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertFalse(fault.isBrokenConnection());
    together.finish();
    assertEquals(FIRST, sender.get());
  }

  @Test
  void aBatchWithLittleTimeClaimsNoCommandThatHasMuch() throws Exception {
    start(LONG);
    BackgroundCall<Object> little = start(LONG / 4);
    BackgroundCall<Object> much = start(LONG);
    batches.take().finish();

    Batch alone = batches.take();

    assertTrue(alone.others().isEmpty());
    alone.finish();
    assertEquals(FIRST, little.get());
    batches.take().finish();
    assertEquals(FIRST, much.get());
  }

  @Test
  void aThreadWhoseQueueTimeIsOverStartsABatch() throws Exception {
    combiner = new CommandCombiner("the server", new CombinerLimits(1, LONG / 100), this::send);
    start(LONG);
    BackgroundCall<Object> second = BackgroundCall.start(() -> submit(LONG, 100));
    Batch silent = batches.take();

    Batch next = batches.take();

    assertEquals(1, silent.over().getCount(), "the first is still under way");
    next.finish();
    assertEquals(FIRST, second.get());
    silent.finish();
  }

  @Test
  void aBatchIsNotLargerThanWhatASocketTakesAtOnce() throws Exception {
    List<BackgroundCall<Object>> all = new ArrayList<>();
    all.add(start(LONG));
    for (int i = 0; i < 4; i++) {
      all.add(BackgroundCall.startAndPark(() -> submit(LONG, 6_000)));
    }
    batches.take().finish();

    Batch full = batches.take();

    assertEquals(1, full.others().size());
    full.finish();
    Batch rest = batches.take();
    assertEquals(1, rest.others().size());
    rest.finish();
    for (BackgroundCall<Object> each : all) {
      each.get();
    }
  }
}
