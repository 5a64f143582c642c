package io.mortise.connection.command;

import static io.mortise.connection.command.BatchCollector.MAX_ITEMS;
import static io.mortise.connection.testing.RespServer.error;
import static io.mortise.connection.testing.RespServer.integers;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
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
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchCollectorTest {
  private static final ConnectionSettings OPTIONS = TestSettings.within(Duration.ofMinutes(1));
  private static final String RENEW = new String(Script.load("lock/renew").sha1(), UTF_8);

  private final WorkerPool workers = new WorkerPool("test");

  /** Answers each command; a test may put another in its place. */
  private volatile Function<List<String>, String> answers = BatchCollectorTest::numbersOfTheHolders;

  private final RespServer server = new RespServer(command -> answers.apply(command));
  private final Topology node = TopologyFactory.create(server.uri(), OPTIONS, workers);

  /** Its readings are all different, so that each batch has a time of its own. */
  private final Ticker ticker =
      new Ticker() {
        private final AtomicLong last = new AtomicLong(Long.MIN_VALUE);

        @Override
        public long read() {
          return last.updateAndGet(before -> Math.max(before + 1, System.nanoTime()));
        }
      };

  private final BatchCollector batches =
      new BatchCollector(new ScriptExecutor(node, workers, OPTIONS), workers, ticker);

  @AfterEach
  void close() {
    workers.close();
    node.close();
    server.close();
  }

  /** The number in its holder's name is the answer that it is to get. */
  private static class Item implements BatchItem {
    final ScriptCall call;
    final long within;
    final long deadline;
    volatile long answer = -1;
    volatile long sentNanos;
    final AtomicInteger outcomes = new AtomicInteger();
    volatile CommandException fault;

    Item(int number) {
      this(number, 0);
    }

    Item(int number, long deadline) {
      this(TestCalls.renew("lock" + number, "h" + number, 1000), Long.MAX_VALUE, deadline);
    }

    Item(ScriptCall call, long within) {
      this(call, within, 0);
    }

    private Item(ScriptCall call, long within, long deadline) {
      this.call = call;
      this.within = within;
      this.deadline = deadline;
    }

    @Override
    public ScriptCall call() {
      return call;
    }

    @Override
    public boolean isWanted() {
      return true;
    }

    @Override
    public long deadlineNanos() {
      return deadline;
    }

    @Override
    public long withinNanos() {
      return within;
    }

    @Override
    public void onReply(long value, long sent) {
      answer = value;
      sentNanos = sent;
      outcomes.incrementAndGet();
    }

    @Override
    public void onFailure(CommandException what) {
      fault = what;
      outcomes.incrementAndGet();
    }
  }

  private static List<String> holders(List<String> evalsha) {
    int keys = Integer.parseInt(evalsha.get(2));
    List<String> holders = new ArrayList<>();
    for (int i = 3 + keys; i < evalsha.size(); i += 2) {
      holders.add(evalsha.get(i));
    }
    return holders;
  }

  /** Returns how many items were in the command with the first one. */
  private int itemsBesideTheFirst() {
    return server.heard().stream()
        .map(BatchCollectorTest::holders)
        .filter(holders -> holders.contains("h0"))
        .findFirst()
        .orElseThrow()
        .size();
  }

  private static String numbersOfTheHolders(List<String> evalsha) {
    return integers(holders(evalsha).stream().map(h -> Long.valueOf(h.substring(1))).toList());
  }

  private List<Item> addAndFlush(int count) {
    return flush(items(count));
  }

  private static List<Item> items(int count) {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      items.add(new Item(i));
    }
    return items;
  }

  private <T extends Item> List<T> flush(List<T> items) {
    items.forEach(batches::add);
    batches.flush();
    return awaitOutcomes(items);
  }

  private static <T extends Item> List<T> awaitOutcomes(List<T> items) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> items.stream().allMatch(i -> i.outcomes.get() > 0));
    assertTrue(items.stream().allMatch(i -> i.outcomes.get() == 1), "each has one outcome");
    return items;
  }

  @Test
  void manyItemsAreOneRoundTripAndEachGetsItsOwnAnswer() {
    long before = System.nanoTime();

    List<Item> items = addAndFlush(150);

    assertEquals(1, server.heard().size());
    assertEquals(List.of("EVALSHA", RENEW, "300"), server.heard().get(0).subList(0, 3));
    for (int i = 0; i < items.size(); i++) {
      assertEquals(i, items.get(i).answer);
      assertTrue(items.get(i).sentNanos - before >= 0);
      assertTrue(System.nanoTime() - items.get(i).sentNanos >= 0);
    }
  }

  @Test
  void aBatchHasABoundedNumberOfItems() {
    List<Item> items = addAndFlush(2 * MAX_ITEMS + 1);

    Map<Long, Long> batchSizes =
        items.stream().collect(groupingBy(item -> item.sentNanos, counting()));
    assertEquals(
        List.of(1L, (long) MAX_ITEMS, (long) MAX_ITEMS),
        batchSizes.values().stream().sorted().toList());
    for (int i = 0; i < items.size(); i++) {
      assertEquals(i, items.get(i).answer);
    }
  }

  @Test
  void theMostUrgentItemsOfAScanAreInOneBatch() {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i <= MAX_ITEMS; i++) {
      items.add(new Item(i, 1_000 - i));
    }

    flush(items);

    long ofTheRest = items.get(0).sentNanos;
    assertEquals(1, items.stream().filter(item -> item.sentNanos == ofTheRest).count());
  }

  /** As after a broken connection, which has all holds verified, or when the server is far away. */
  @Test
  void manyBatchesOfOneScanAreSentAtATime() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger atATime = new AtomicInteger();
    answers =
        command -> {
          atATime.incrementAndGet();
          Uninterruptibles.awaitUninterruptibly(go);
          return numbersOfTheHolders(command);
        };
    List<Item> items = items(MAX_ITEMS + 1);
    items.forEach(batches::add);
    batches.flush();
    await().atMost(BackgroundCall.LIVENESS).until(() -> atATime.get() == 2);

    go.countDown();

    awaitOutcomes(items);
  }

  /** The server answers nothing, and then one command: the next that it gets is the urgent one. */
  @Test
  void anUrgentItemDoesNotWaitForThoseOfEarlierScans() {
    Semaphore allowed = new Semaphore(0);
    answers =
        command -> {
          allowed.acquireUninterruptibly();
          return numbersOfTheHolders(command);
        };
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < BatchQueue.MAX_WORKERS + 5; i++) {
      items.add(new Item(i, 1_000 + i));
      batches.add(items.get(i));
      batches.flush();
    }
    awaitPasses(() -> server.heard().size() == BatchQueue.MAX_WORKERS);
    Item urgent = new Item(100, 10);
    batches.add(urgent);
    batches.flush();

    allowed.release();

    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> server.heard().size() > BatchQueue.MAX_WORKERS);
    assertEquals(List.of("h100"), holders(server.heard().get(BatchQueue.MAX_WORKERS)));
    allowed.release(items.size());
    items.add(urgent);
    awaitOutcomes(items);
  }

  @Test
  void theCallIsThatOfTheMomentWhenItIsSent() {
    Item item =
        new Item(1) {
          @Override
          public ScriptCall callToSend(ScriptCall added) {
            assertSame(call, added);
            return TestCalls.renew("lock1", "h2", 1000);
          }
        };

    flush(List.of(item));

    assertEquals(2, item.answer);
  }

  /** As when a server is too slow for all: those that came too late do not delay the others. */
  @Test
  void whatNobodyWantsAnyMoreIsNotSent() {
    Set<Integer> wanted = Set.of(1, 3);
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      items.add(
          new Item(number) {
            @Override
            public boolean isWanted() {
              return wanted.contains(number);
            }
          });
    }

    flush(items);

    assertEquals(List.of("h1", "h3"), holders(server.heard().get(0)));
    assertEquals(List.of(1L, 3L), List.of(items.get(1).answer, items.get(3).answer));
    assertEquals(false, items.get(0).fault.mayHaveExecuted());
    assertEquals(1, server.heard().size());
  }

  @Test
  void manyScansKeepFewWorkersBusy() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger atATime = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    answers =
        command -> {
          most.accumulateAndGet(atATime.incrementAndGet(), Math::max);
          Uninterruptibles.awaitUninterruptibly(go);
          atATime.decrementAndGet();
          return numbersOfTheHolders(command);
        };
    List<Item> items = new ArrayList<>();
    long pauseNanos = Long.MAX_VALUE;
    for (int i = 0; i < 30; i++) {
      Item item = new Item(i);
      items.add(item);
      batches.add(item);
      pauseNanos = batches.flush();
    }
    assertEquals(BatchQueue.WINDOW_NANOS, pauseNanos, "another pass");
    awaitPasses(() -> most.get() == BatchQueue.MAX_WORKERS);

    go.countDown();

    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> items.stream().allMatch(item -> item.outcomes.get() == 1));
    assertEquals(BatchQueue.MAX_WORKERS, most.get());
    for (int i = 0; i < items.size(); i++) {
      assertEquals(i, items.get(i).answer);
    }
    await().atMost(BackgroundCall.LIVENESS).until(() -> batches.flush() > BatchQueue.WINDOW_NANOS);
  }

  /** Makes passes, as the scheduler does until all is sent. */
  private void awaitPasses(BooleanSupplier end) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .pollInterval(Duration.ofNanos(BatchQueue.WINDOW_NANOS))
        .pollInSameThread()
        .until(
            () -> {
              batches.flush();
              return end.getAsBoolean();
            });
  }

  @Test
  void itemsAreGroupedByScript() {
    answers =
        command ->
            command.get(1).equals(RENEW)
                ? numbersOfTheHolders(command)
                : integers(List.of(70L, 71L));
    Item a = new Item(1);
    Item b = new Item(TestCalls.inspect("b"), Long.MAX_VALUE);
    Item c = new Item(2);
    Item d = new Item(TestCalls.inspect("d"), Long.MAX_VALUE);

    flush(List.of(a, b, c, d));

    assertEquals(2, server.heard().size());
    assertEquals(List.of(1L, 70L, 2L, 71L), List.of(a.answer, b.answer, c.answer, d.answer));
  }

  @Test
  void nothingAddedIsNothingSentAndWhatWasSentIsNotSentAgain() {
    batches.flush();
    addAndFlush(1);
    batches.flush();
    addAndFlush(2);

    assertEquals(
        List.of("2", "4"), server.heard().stream().map(command -> command.get(2)).toList());
  }

  @Test
  void aFaultFailsAllItemsOfItsCommandAndNoOthers() {
    answers =
        command ->
            holders(command).contains("h0")
                ? error("LOADING Redis is loading the dataset in memory")
                : numbersOfTheHolders(command);

    List<Item> items = addAndFlush(700);

    int refused = itemsBesideTheFirst();
    for (Item item : items.subList(0, refused)) {
      assertEquals(Kind.NOT_READY, item.fault.kind());
    }
    for (int i = refused; i < 700; i++) {
      assertEquals(i, items.get(i).answer);
    }
  }

  @Test
  void aNameThatHasBecomeSomethingElseStopsItsOwnRenewalOnly() {
    Set<String> poisoned = Set.of("h3", "h6");
    answers =
        command ->
            holders(command).stream().anyMatch(poisoned::contains)
                ? error("WRONGTYPE Operation against a key holding the wrong kind of value")
                : numbersOfTheHolders(command);

    List<Item> items = addAndFlush(20);

    Set<Integer> failed = new TreeSet<>();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i).fault != null) {
        assertEquals(Kind.WRONG_TYPE, items.get(i).fault.kind());
        failed.add(i);
      } else {
        assertEquals(i, items.get(i).answer);
      }
    }
    assertEquals(Set.of(3, 6), failed);
  }

  @Test
  void aNegativeAnswerIsAFaultOfItsItemAlone() {
    answers = command -> integers(List.of(1L, -1L, 0L));

    List<Item> items = addAndFlush(3);

    assertEquals(1, items.get(0).answer);
    assertEquals(Kind.SCRIPT, items.get(1).fault.kind());
    assertEquals(0, items.get(2).answer);
  }

  @Test
  void oneThatThrowsDoesNotHarmTheOthers() {
    List<Item> items = flush(List.of(new Item(0), new Throwing(1), new Item(2)));
    assertEquals(2, items.get(2).answer);

    answers = command -> error("BUSY Redis is busy running a script.");
    items = flush(List.of(new Item(0), new Throwing(1), new Item(2)));
    assertEquals(Kind.NOT_READY, items.get(2).fault.kind());
  }

  @Test
  void anErrorOfOneDoesNotHarmTheOthersEither() {
    Item overflowing =
        new Item(1) {
          @Override
          public void onReply(long value, long sent) {
            super.onReply(value, sent);
            throw new StackOverflowError("on purpose");
          }

          @Override
          public void onFailure(CommandException what) {
            super.onFailure(what);
            throw new OutOfMemoryError("on purpose");
          }
        };
    List<Item> items = flush(List.of(new Item(0), overflowing, new Item(2)));
    assertEquals(2, items.get(2).answer);

    overflowing.outcomes.set(0);
    answers = command -> error("BUSY Redis is busy running a script.");
    items = flush(List.of(new Item(0), overflowing, new Item(2)));
    assertEquals(Kind.NOT_READY, items.get(2).fault.kind());
  }

  /** A refusal is an answer too: the server is there. */
  @Test
  void anAnswerIsCountedOnceForItsBatch() {
    AtomicInteger answered = new AtomicInteger();
    BatchSender sender =
        new BatchSender(
            new ScriptExecutor(node, workers, TestSettings.within(Duration.ofSeconds(1))),
            new BatchFaults(),
            ticker);

    assertNull(sender.send(pending(1, 2), answered::incrementAndGet));
    assertEquals(1, answered.get());
    answers = command -> error("BUSY Redis is busy running a script.");
    assertNull(sender.send(pending(1, 2), answered::incrementAndGet));
    assertEquals(2, answered.get());
    answers = command -> RespServer.SILENCE;
    assertNull(sender.send(pending(1, 2), answered::incrementAndGet));
    server.close();
    assertNotNull(sender.send(pending(1, 2), answered::incrementAndGet));
    assertEquals(2, answered.get());
  }

  private static List<PendingItem> pending(int... numbers) {
    return Arrays.stream(numbers).mapToObj(number -> new PendingItem(new Item(number))).toList();
  }

  /** A renewal that hears nothing counts as under way for ever. */
  @Test
  void anErrorBeforeABatchIsSentFailsEachOfItsItemsOnce() {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i <= 2 * MAX_ITEMS; i++) {
      items.add(
          i != MAX_ITEMS + 1
              ? new Item(i)
              : new Item(i) {
                @Override
                public ScriptCall callToSend(ScriptCall added) {
                  throw new OutOfMemoryError("on purpose");
                }
              });
    }

    flush(items);

    for (int i = 0; i < items.size(); i++) {
      CommandException fault = items.get(i).fault;
      assertEquals(i >= MAX_ITEMS && i < 2 * MAX_ITEMS, fault != null, "item " + i);
      assertTrue(fault == null || fault.mayHaveExecuted(), "nobody knows how far it came");
      assertEquals(fault != null ? -1 : i, items.get(i).answer);
    }
  }

  @Test
  void anItemThatCannotBeAddedFails() {
    AtomicInteger made = new AtomicInteger();
    Item item =
        new Item(1) {
          @Override
          public ScriptCall call() {
            made.incrementAndGet();
            throw new StackOverflowError("on purpose");
          }
        };

    assertThrows(StackOverflowError.class, () -> batches.add(item));

    assertEquals(1, item.outcomes.get());
    assertEquals(Kind.POOL_EXHAUSTED, item.fault.kind());
    addAndFlush(2);
    assertEquals(1, made.get());
  }

  /** Returns a collector that cannot find the server of an item once. */
  private BatchCollector failingOnce(Supplier<RuntimeException> failure) {
    AtomicBoolean failed = new AtomicBoolean();
    Topology failing =
        (Topology)
            Proxy.newProxyInstance(
                Topology.class.getClassLoader(),
                new Class<?>[] {Topology.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("serverOf") && !failed.getAndSet(true)) {
                    throw failure.get();
                  }
                  return method.invoke(node, arguments);
                });
    return new BatchCollector(new ScriptExecutor(failing, workers, OPTIONS), workers, ticker);
  }

  /** There may not be the memory to tell each of a failure. */
  @Test
  void whatIsGatheredStaysAfterAnErrorOfTheJvm() {
    BatchCollector collector =
        failingOnce(
            () -> {
              throw new OutOfMemoryError("on purpose");
            });
    List<Item> items = items(3);
    items.forEach(collector::add);
    assertThrows(OutOfMemoryError.class, collector::flush);
    assertTrue(items.stream().allMatch(item -> item.outcomes.get() == 0));

    collector.flush();

    awaitOutcomes(items);
    assertEquals(2, items.get(2).answer);
  }

  @Test
  void whatIsGatheredFailsAfterAnyOtherError() {
    BatchCollector collector = failingOnce(() -> new IllegalStateException("on purpose"));
    List<Item> items = items(3);
    items.forEach(collector::add);

    assertThrows(IllegalStateException.class, collector::flush);

    awaitOutcomes(items);
    assertEquals(Kind.POOL_EXHAUSTED, items.get(2).fault.kind());
    collector.flush();
    assertEquals(0, server.heard().size());
  }

  @Test
  void itemsThatAreAddedAfterTheWorkersHaveEndedFail() {
    workers.close();

    List<Item> items = addAndFlush(2);

    assertEquals(Kind.POOL_EXHAUSTED, items.get(0).fault.kind());
    assertEquals(Kind.POOL_EXHAUSTED, items.get(1).fault.kind());
  }

  private static final class Throwing extends Item {
    Throwing(int number) {
      super(number);
    }

    @Override
    public void onReply(long value, long sent) {
      super.onReply(value, sent);
      throw new IllegalStateException("on purpose");
    }

    @Override
    public void onFailure(CommandException what) {
      super.onFailure(what);
      throw new IllegalStateException("on purpose");
    }
  }

  @Test
  void anAnswerThatHasNotAPlaceForEachIsAFaultOfItsCommandAlone() {
    answers =
        command ->
            holders(command).contains("h0") ? integers(List.of(1L)) : numbersOfTheHolders(command);

    List<Item> items = addAndFlush(MAX_ITEMS + 1);

    int last = itemsBesideTheFirst() - 1;
    assertEquals(Kind.SCRIPT, items.get(0).fault.kind());
    assertEquals(Kind.SCRIPT, items.get(last).fault.kind());
    assertEquals(last + 1, items.get(last + 1).answer);
    assertEquals(MAX_ITEMS, items.get(MAX_ITEMS).answer);
  }

  @Test
  void theLeastTimeOfItsItemsIsThatOfTheBatch() {
    var unused = addAndFlush(1); // makes the connection
    answers = command -> RespServer.SILENCE; // the client's own limit is a minute
    Item patient = new Item(1);
    Item urgent = new Item(TestCalls.renew("b", "h2", 1000), 1_000_000_000);

    flush(List.of(patient, urgent));

    assertEquals(Kind.UNREACHABLE, patient.fault.kind());
    assertTrue(patient.fault.mayHaveExecuted());
    assertEquals(Kind.UNREACHABLE, urgent.fault.kind());
  }
}
