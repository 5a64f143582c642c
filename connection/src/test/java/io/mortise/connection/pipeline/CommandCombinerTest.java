package io.mortise.connection.pipeline;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.TestSettings;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** The threads that send a batch, and the commands in it. */
@Timeout(60)
class CommandCombinerTest {
  private static final long LONG = 20_000_000_000L;

  private static final String FIRST = "its thread has sent the batch";
  private static final String OTHER = "another thread has sent the batch";

  private final BlockingQueue<Batch> batches = new LinkedBlockingQueue<>();

  /** A batch that is about to start has its connection when this is open. */
  private volatile CountDownLatch connecting = new CountDownLatch(0);

  private CommandCombiner combiner =
      new CommandCombiner("the server", new CombinerLimits(1, LONG), this::send);

  /** A batch under way, which ends when the test says so. */
  private record Batch(PendingCommand first, List<PendingCommand> others, CountDownLatch over) {
    void finish() {
      over.countDown();
    }
  }

  private static void awaitOver(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A clock that stops the thread that has read it first, while the test wants that. */
  private static final class StoppingTicker extends Ticker {
    private final AtomicReference<Thread> owner = new AtomicReference<>();
    private final AtomicInteger stopped = new AtomicInteger();
    private final AtomicLong aheadNanos = new AtomicLong();
    private volatile CountDownLatch gate = new CountDownLatch(0);

    @Override
    public long read() {
      owner.compareAndSet(null, Thread.currentThread());
      if (Thread.currentThread() == owner.get()) {
        stopped.incrementAndGet();
        awaitOver(gate);
        stopped.decrementAndGet();
      }
      return Ticker.systemTicker().read() + aheadNanos.get();
    }

    /** Stops the thread, which waits in {@code call}. */
    void stop(BackgroundCall<?> call) {
      gate = new CountDownLatch(1);
      call.interrupt(); // which ends no wait, but lets it look at the clock
      await().atMost(BackgroundCall.LIVENESS).until(() -> stopped.get() == 1);
    }
  }

  /** A clock by which a command is late when it comes. */
  private static final class FastTicker extends Ticker {
    private final AtomicLong aheadNanos = new AtomicLong();

    @Override
    public long read() {
      return Ticker.systemTicker().read() + aheadNanos.addAndGet(2 * LONG);
    }
  }

  /** Sends batches on two connections. */
  private final class TwoConnections implements CommandCombiner.BatchTransport {
    /** Throws an error, once, when a thread counts the connections. */
    private final AtomicBoolean lacksMemory = new AtomicBoolean();

    @Override
    public void send(PendingCommand first, Consumer<List<PendingCommand>> others) {
      CommandCombinerTest.this.send(first, others);
    }

    @Override
    public int maxConnections() {
      if (lacksMemory.getAndSet(false)) {
        throw new OutOfMemoryError("on purpose");
      }
      return 2;
    }
  }

  /** Returns a combiner whose commands are late from the beginning. */
  private CommandCombiner overloaded() {
    return overloaded(new TwoConnections());
  }

  private static CommandCombiner overloaded(TwoConnections connections) {
    return new CommandCombiner("the server", new CombinerLimits(1, 0), connections);
  }

  private void send(PendingCommand first, Consumer<List<PendingCommand>> others) {
    awaitOver(connecting);
    List<PendingCommand> claimed = new ArrayList<>();
    others.accept(claimed);
    Batch batch = new Batch(first, claimed, new CountDownLatch(1));
    batches.add(batch);
    awaitOver(batch.over);
    first.answer(new Reply(FIRST, null, null));
    batch.others.forEach(each -> each.answer(new Reply(OTHER, null, null)));
  }

  @AfterEach
  void endAllBatches() {
    batches.forEach(Batch::finish);
  }

  private Object submit(long nanos, int bytes) throws CommandException {
    return submit(TestSettings.after(nanos), bytes);
  }

  private Object submit(Deadline deadline, int bytes) throws CommandException {
    return combiner
        .submit(new PendingCommand(new CommandArguments(Command.PING), bytes, deadline))
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

  /** A batch of at most one other command. */
  private static final class FullBatch extends AbstractList<PendingCommand> {
    private final List<PendingCommand> commands = new ArrayList<>();

    @Override
    public void add(int index, PendingCommand command) {
      if (index > 0) {
        throw new OutOfMemoryError("on purpose");
      }
      commands.add(command);
    }

    @Override
    public PendingCommand get(int index) {
      return commands.get(index);
    }

    @Override
    public int size() {
      return commands.size();
    }
  }

  @Test
  void aCommandThatDoesNotGetIntoTheBatchIsNotClaimed() throws Exception {
    AtomicBoolean full = new AtomicBoolean();
    List<PendingCommand> claimed = new FullBatch();
    combiner =
        new CommandCombiner(
            "the server",
            new CombinerLimits(1, LONG),
            (first, others) -> {
              if (full.getAndSet(false)) {
                others.accept(claimed);
              }
              send(first, others);
            });
    BackgroundCall<Object> first = start(LONG);
    full.set(true);
    BackgroundCall<Object> lacksMemory = start(LONG);
    BackgroundCall<Object> second = start(LONG);
    BackgroundCall<Object> third = start(LONG);
    batches.take().finish();
    assertEquals(FIRST, first.get());

    ExecutionException thrown = assertThrows(ExecutionException.class, lacksMemory::get);
    assertInstanceOf(OutOfMemoryError.class, thrown.getCause());
    claimed.get(0).answer(new Reply(OTHER, null, null));
    batches.take().finish();

    assertEquals(OTHER, second.get());
    assertEquals(FIRST, third.get());
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

  /** Each would claim its own command, and wait for a connection alone. */
  @Test
  void threadsWhoseQueueTimeIsOverStartNoMoreBatchesThanThereAreConnections() throws Exception {
    combiner = overloaded();
    List<BackgroundCall<Object>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(start(LONG));
    }
    Batch first = batches.take();
    Batch second = batches.take();
    assertTrue(batches.isEmpty(), "more batches than connections");
    first.finish();

    Batch third = batches.take();

    assertEquals(5, third.others().size());
    third.finish();
    second.finish();
    List<Object> how = new ArrayList<>();
    for (BackgroundCall<Object> each : all) {
      how.add(each.get());
    }
    assertEquals(List.of(FIRST, FIRST, FIRST, OTHER, OTHER, OTHER, OTHER, OTHER), how);
  }

  @Test
  void aCommandForWhichNoConnectionBecomesFreeIsNotSent() throws Exception {
    combiner = overloaded();
    start(LONG);
    start(LONG);
    batches.take();
    batches.take();

    CommandException fault = fault(BackgroundCall.start(() -> submit(LONG / 100, 100)));

    assertEquals(Kind.POOL_EXHAUSTED, fault.kind());
    assertFalse(fault.mayHaveExecuted());
  }

  /**
   * Four commands, A to D, and two connections. A ends and signals C, but before the thread of C
   * runs, B claims C. Then D, for which B has no room, is signalled by C, and waits for no batch.
   */
  @Test
  void aLateCommandThatAnotherBatchHasClaimedPassesItsSignalOn() throws Exception {
    combiner = overloaded();
    start(LONG);
    Batch a = batches.take();
    connecting = new CountDownLatch(1);
    start(LONG);
    StoppingTicker ticker = new StoppingTicker();
    BackgroundCall<Object> c =
        BackgroundCall.startAndPark(() -> submit(Deadline.after(LONG, ticker), 100));
    BackgroundCall<Object> d = BackgroundCall.startAndPark(() -> submit(LONG, 16 * 1024));
    ticker.gate = new CountDownLatch(1);
    a.finish();
    await().atMost(BackgroundCall.LIVENESS).until(() -> ticker.stopped.get() == 1);
    connecting.countDown();
    Batch b = batches.take();
    assertEquals(1, b.others().size(), "C");

    b.others().get(0).answer(new Reply(OTHER, null, null));
    ticker.gate.countDown();
    assertEquals(OTHER, c.get());

    Batch last = batches.poll(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(last, "D waits although a connection is free");
    assertEquals(1, b.over().getCount(), "B is still under way");
    last.finish();
    assertEquals(FIRST, d.get());
  }

  /**
   * Two batches are under way, and two commands wait: N, whose thread is stopped before it sees
   * that it is late, as that of a virtual thread without a carrier, and M, which is late.
   */
  @Test
  void aThreadThatDoesNotRunKeepsNoLateCommandFromBeingSent() throws Exception {
    combiner = new CommandCombiner("the server", new CombinerLimits(1, LONG), new TwoConnections());
    BackgroundCall<Object> a = start(LONG);
    Batch first = batches.take();
    BackgroundCall<Object> b = startLate();
    Batch second = batches.take();
    StoppingTicker ticker = new StoppingTicker();
    BackgroundCall<Object> n =
        BackgroundCall.startAndPark(() -> submit(Deadline.after(4 * LONG, ticker), 100));
    ticker.stop(n);
    ticker.aheadNanos.set(2 * LONG);
    BackgroundCall<Object> m = startLate();

    first.finish();
    assertEquals(FIRST, a.get());
    second.finish();
    assertEquals(FIRST, b.get());

    Batch next = batches.poll(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
    ticker.gate.countDown();
    assertNotNull(next, "M waits although both connections are free");
    next.finish();
    assertEquals(FIRST, m.get());
    assertEquals(OTHER, n.get());
  }

  /** Starts a command that is late when it comes. */
  private BackgroundCall<Object> startLate() {
    return BackgroundCall.startAndPark(
        () -> submit(Deadline.after(1_000 * LONG, new FastTicker()), 100));
  }

  @Test
  void anErrorInTheSearchForTheNextLosesNeitherTheSignalNorTheAnswer() throws Exception {
    TwoConnections connections = new TwoConnections();
    combiner = overloaded(connections);
    BackgroundCall<Object> sender = start(LONG);
    Batch first = batches.take();
    start(LONG);
    Batch second = batches.take();
    BackgroundCall<Object> waiter = start(LONG);

    connections.lacksMemory.set(true);
    first.finish();

    assertEquals(FIRST, sender.get());
    Batch next = batches.poll(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(next, "the waiter was not signalled");
    next.finish();
    assertEquals(FIRST, waiter.get());
    second.finish();
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
