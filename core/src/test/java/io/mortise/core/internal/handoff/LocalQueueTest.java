package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LeaseTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalQueueTest {
  private static final long AN_HOUR = 3_600_000_000_000L;
  private static final long SECOND = 1_000_000_000L;
  private static final TransferableHold HOLD =
      new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0);

  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // it wraps around
  private final LocalQueue gate = new LocalQueue(clock::get);
  private final List<String> order = new CopyOnWriteArrayList<>();

  @Test
  void theFirstHasThePermitAndOthersDoNot() throws Exception {
    assertTrue(gate.enter(0, true));
    assertFalse(gate.enter(0, true));
    assertFalse(gate.enter(-1, false));
    assertFalse(gate.enter(1_000_000, true), "a wait that ends without the permit");

    gate.release();

    assertTrue(gate.enter(0, true));
  }

  @Test
  void theLineIsInTheOrderOfArrival() throws Exception {
    assertTrue(gate.enter(0, true));
    List<BackgroundCall<Boolean>> line = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      line.add(waiter("thread " + i, i % 2 == 0 ? LeaseTerms.FOREVER : AN_HOUR, i < 3));
    }

    gate.release();

    for (BackgroundCall<Boolean> waiter : line) {
      assertTrue(waiter.get());
    }
    assertEquals(List.of("thread 1", "thread 2", "thread 3", "thread 4"), order);
  }

  @Test
  void whoComesLaterDoesNotOvertakeTheLine() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(0, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));

      busy.release();

      assertFalse(busy.enter(1, true), "the first in line has it and keeps it");
      assertTrue(first.get());
    }
  }

  @Test
  void aHoldThatIsLeftMayBeTakenPastTheLineAFewTimesInARow() throws Exception {
    int most = 0;
    for (int round = 0; round < 1_000 && most < LocalQueue.MOST_OVERTAKEN; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      int times = overtaken(busy);
      assertTrue(first.get());
      assertTrue(times <= LocalQueue.MOST_OVERTAKEN, "overtaken " + times + " times");
      most = Math.max(most, times);
    }
    assertTrue(most > 0, "nobody was ever quicker than the one who was woken");
  }

  @Test
  void whoCannotUseAHoldDoesNotTakeItPastTheLine() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      busy.offerHold(HOLD);
      busy.release();

      assertFalse(busy.enter(1, true, hold -> false));

      assertTrue(first.get());
      assertSame(HOLD, busy.takeHold());
    }
  }

  @Test
  void onceTheLineCouldHaveMovedNobodyTakesAHoldPastIt() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      clock.addAndGet(LocalQueue.OVERTAKING_NANOS + 1);

      assertEquals(0, overtaken(busy));

      assertTrue(first.get());
    }
  }

  /** Comes past the line. */
  @FunctionalInterface
  private interface Newcomer {
    boolean enters(LocalQueue line) throws InterruptedException;
  }

  private static int overtaken(LocalQueue line) throws InterruptedException {
    return overtaken(line, gate -> gate.enter(1, true, HOLD::equals));
  }

  /** Leaves a hold to the one in line, and takes it again as often as that can be. */
  private static int overtaken(LocalQueue line, Newcomer newcomer) throws InterruptedException {
    int times = -1;
    do {
      line.offerHold(HOLD);
      line.release();
      times++;
    } while (newcomer.enters(line) && line.takeHold() != null);
    return times;
  }

  @Test
  void whoOnlyTriesIsCountedToo() throws Exception {
    for (int round = 0; round < 1_000; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      int times = overtaken(busy, LocalQueue::enterIfFree);
      assertTrue(first.get());
      assertTrue(times <= LocalQueue.MOST_OVERTAKEN, "overtaken " + times + " times");
    }
  }

  @Test
  void whoOnlyTriesDoesNotComePastALineThatCouldHaveMoved() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      clock.addAndGet(LocalQueue.OVERTAKING_NANOS + 1);

      assertEquals(0, overtaken(busy, LocalQueue::enterIfFree));

      assertTrue(first.get());
    }
  }

  @Test
  void anUnboundedUninterruptibleWaitKeepsItsPlaceThroughInterrupts() throws Exception {
    assertTrue(gate.enter(0, true));
    BackgroundCall<Boolean> first = waiter("first", LeaseTerms.FOREVER, false);
    BackgroundCall<Boolean> second = waiter("second", LeaseTerms.FOREVER, false);

    first.interrupt();
    first.awaitParked();
    first.interrupt();
    first.awaitParked();
    gate.release();

    assertTrue(first.get());
    assertTrue(second.get());
    assertEquals(List.of("first, interrupted", "second"), order);
  }

  @Test
  void aBoundedUninterruptibleWaitGoesOnThroughInterruptsUntilItIsOver() throws Exception {
    assertTrue(gate.enter(0, true));
    BackgroundCall<Boolean> waiter = waiter("waiter", AN_HOUR, false);
    BackgroundCall<Boolean> inVain =
        BackgroundCall.start(
            () -> {
              Thread.currentThread().interrupt();
              boolean entered = gate.enter(1_000_000, false);
              return entered || !Thread.interrupted();
            });

    waiter.interrupt();
    waiter.awaitParked();
    assertFalse(inVain.get(), "no permit, and the status stands");
    gate.release();

    assertTrue(waiter.get());
    assertEquals(List.of("waiter, interrupted"), order);
  }

  @Test
  void whoIsInterruptedLeavesTheLineAndTakesNoPermit() throws Exception {
    assertTrue(gate.enter(0, true));
    BackgroundCall<Boolean> unbounded = waiter("unbounded", LeaseTerms.FOREVER, true);
    BackgroundCall<Boolean> bounded = waiter("bounded", AN_HOUR, true);
    BackgroundCall<Boolean> last = waiter("last", AN_HOUR, true);

    unbounded.interrupt();
    bounded.interrupt();

    for (BackgroundCall<Boolean> gone : List.of(unbounded, bounded)) {
      var end = assertThrows(ExecutionException.class, gone::get);
      assertEquals(InterruptedException.class, end.getCause().getClass());
    }
    gate.release();
    assertTrue(last.get());
    assertEquals(List.of("last"), order);
  }

  @Test
  void anOpenGateLetsEverybodyThrough() throws Exception {
    assertTrue(gate.enter(0, true));
    BackgroundCall<Boolean> one = waiterThatKeeps();
    BackgroundCall<Boolean> two = waiterThatKeeps();

    gate.releaseAll(10);

    assertTrue(one.get());
    assertTrue(two.get());
    assertTrue(gate.enter(0, true));
  }

  @Test
  void itIsKnownWhetherOthersStandInTheLine() throws Exception {
    assertTrue(gate.enter(0, true));
    assertFalse(gate.hasWaiters());

    BackgroundCall<Boolean> waiter = waiterThatKeeps();
    assertTrue(gate.hasWaiters());

    gate.release();
    assertTrue(waiter.get());
    assertFalse(gate.hasWaiters());
  }

  @Test
  void itIsKnownSinceWhenSomebodyElseHasBeenSeenToHoldTheLock() {
    long then = Long.MAX_VALUE - 5; // nanoTime may be anything, and wraps around
    assertFalse(gate.wasBusySince(then), "nobody has asked yet");

    gate.wasBusy(then + 10);

    assertTrue(gate.wasBusySince(then));
    assertTrue(gate.wasBusySince(then + 10));
    assertFalse(gate.wasBusySince(then + 11));
  }

  @Test
  void aFaultIsRememberedSinceTheFirstOfItsRow() {
    CommandException first = fault("first");
    CommandException second = fault("second");
    assertNull(gate.trouble());

    gate.recordAttempt(first, 100);
    gate.recordAttempt(second, 250);

    LocalQueue.Outage trouble = gate.trouble();
    assertNotNull(trouble);
    assertSame(second, trouble.fault());
    assertEquals(100, trouble.sinceNanos());
    assertEquals(250, trouble.lastNanos());
  }

  @Test
  void anAnswerEndsTheTroubleAndTheNextRowStartsAnew() {
    gate.recordAttempt(fault("old"), 100);

    gate.recordAttempt(null, 200);
    assertNull(gate.trouble());

    gate.recordAttempt(fault("new"), 300);
    LocalQueue.Outage trouble = gate.trouble();
    assertNotNull(trouble);
    assertEquals(300, trouble.sinceNanos());
  }

  @Test
  void troubleIsFreshForASecondAfterItsLastFault() {
    long last = Long.MAX_VALUE - 10; // nanoTime may be anything, and wraps around
    LocalQueue.Outage trouble = new LocalQueue.Outage(fault("lately"), last - 5 * SECOND, last);

    assertTrue(trouble.isFresh(last));
    assertTrue(trouble.isFresh(last + SECOND - 1));
    assertFalse(trouble.isFresh(last + SECOND));
    assertFalse(trouble.isFresh(last + 5 * SECOND));
  }

  /** Waits for the permit, notes it, and passes it on. */
  private BackgroundCall<Boolean> waiter(String name, long nanos, boolean interruptible) {
    return BackgroundCall.startAndPark(
        () -> {
          boolean entered = gate.enter(nanos, interruptible);
          order.add(Thread.interrupted() ? name + ", interrupted" : name);
          gate.release();
          return entered;
        });
  }

  private BackgroundCall<Boolean> waiterThatKeeps() {
    return BackgroundCall.startAndPark(() -> gate.enter(LeaseTerms.FOREVER, false));
  }

  private static CommandException fault(String message) {
    return new CommandException(Kind.UNREACHABLE, false, message, null);
  }
}
