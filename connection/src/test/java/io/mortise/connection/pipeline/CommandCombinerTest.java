package io.mortise.connection.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.BackgroundCall;
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

/** Which threads send a batch, and which commands go along. */
@Timeout(60)
class CommandCombinerTest {
  private static final long LONG = 20_000_000_000L;

  private static final String DRIVER = "has gone itself";
  private static final String PASSENGER = "has gone along";

  private final BlockingQueue<Journey> journeys = new LinkedBlockingQueue<>();
  private CommandCombiner trips =
      new CommandCombiner("the server", new CombinerLimits(1, LONG), this::go);

  /** One trip, which ends when the test says so. */
  private record Journey(PendingCommand first, List<PendingCommand> others, CountDownLatch over) {
    void finish() {
      over.countDown();
    }
  }

  private void go(PendingCommand first, Supplier<List<PendingCommand>> others) {
    Journey journey = new Journey(first, others.get(), new CountDownLatch(1));
    journeys.add(journey);
    try {
      journey.over.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    first.answer(new Reply(DRIVER, null, null));
    journey.others.forEach(each -> each.answer(new Reply(PASSENGER, null, null)));
  }

  @AfterEach
  void nobodyIsOnTheWay() {
    journeys.forEach(Journey::finish);
  }

  private Object ride(long nanos, int bytes) throws CommandException {
    return trips
        .submit(
            new PendingCommand(
                new CommandArguments(Command.PING), bytes, System.nanoTime() + nanos))
        .value();
  }

  private BackgroundCall<Object> start(long nanos) {
    return BackgroundCall.startAndPark(() -> ride(nanos, 100));
  }

  private static CommandException fault(BackgroundCall<?> thread) {
    return (CommandException) assertThrows(ExecutionException.class, thread::get).getCause();
  }

  @Test
  void aFewGoAlone() throws Exception {
    trips = new CommandCombiner("the server", new CombinerLimits(2, LONG), this::go);
    start(LONG);
    start(LONG);

    assertTrue(journeys.take().others().isEmpty());
    assertTrue(journeys.take().others().isEmpty());
  }

  @Test
  void whoWaitsIsTakenAlongByTheNext() throws Exception {
    trips = new CommandCombiner("the server", new CombinerLimits(2, LONG), this::go);
    List<BackgroundCall<Object>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.add(start(LONG));
    }
    Journey first = journeys.take();
    Journey second = journeys.take();
    assertTrue(journeys.isEmpty(), "two at a time");
    first.finish();

    Journey together = journeys.take();

    assertEquals(3, together.others().size());
    together.finish();
    second.finish();
    List<Object> how = new ArrayList<>();
    for (BackgroundCall<Object> each : all) {
      how.add(each.get());
    }
    assertEquals(List.of(DRIVER, DRIVER, DRIVER, PASSENGER, PASSENGER, PASSENGER), how);
  }

  @Test
  void whoseTimeEndsOnTheWayMayHaveBeenHeard() throws Exception {
    BackgroundCall<Object> first = start(LONG);
    BackgroundCall<Object> driver = start(LONG);
    BackgroundCall<Object> late = start(2_000_000_000);
    journeys.take().finish();
    first.get();
    Journey together = journeys.take();
    assertEquals(1, together.others().size());

    CommandException fault = fault(late);

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.mayHaveExecuted());
    assertFalse(fault.isBrokenConnection());
    together.finish();
    assertEquals(DRIVER, driver.get());
  }

  @Test
  void whoHasLittleTimeTakesNobodyAlongWhoHasMuch() throws Exception {
    start(LONG);
    BackgroundCall<Object> little = start(LONG / 4);
    BackgroundCall<Object> much = start(LONG);
    journeys.take().finish();

    Journey alone = journeys.take();

    assertTrue(alone.others().isEmpty());
    alone.finish();
    assertEquals(DRIVER, little.get());
    journeys.take().finish();
    assertEquals(DRIVER, much.get());
  }

  @Test
  void whoIsOutOfPatienceGoesAndTakesTheOthersAlong() throws Exception {
    trips = new CommandCombiner("the server", new CombinerLimits(1, LONG / 100), this::go);
    start(LONG);
    BackgroundCall<Object> second = BackgroundCall.start(() -> ride(LONG, 100));
    Journey silent = journeys.take();

    Journey next = journeys.take();

    assertEquals(1, silent.over().getCount(), "the first has not come back");
    next.finish();
    assertEquals(DRIVER, second.get());
    silent.finish();
  }

  @Test
  void noMoreGoesTogetherThanASocketTakesAtOnce() throws Exception {
    List<BackgroundCall<Object>> all = new ArrayList<>();
    all.add(start(LONG));
    for (int i = 0; i < 4; i++) {
      all.add(BackgroundCall.startAndPark(() -> ride(LONG, 6_000)));
    }
    journeys.take().finish();

    Journey full = journeys.take();

    assertEquals(1, full.others().size());
    full.finish();
    Journey rest = journeys.take();
    assertEquals(1, rest.others().size());
    rest.finish();
    for (BackgroundCall<Object> each : all) {
      each.get();
    }
  }
}
