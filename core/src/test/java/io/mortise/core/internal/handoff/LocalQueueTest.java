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
import java.util.concurrent.atomic.AtomicInteger;
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
  private final LocalQueue queue = new LocalQueue(clock::get);
  private final List<String> order = new CopyOnWriteArrayList<>();

  @Test
  void theFirstHasThePermitAndOthersDoNot() throws Exception {
    assertTrue(queue.enter(0, true));
    assertFalse(queue.enter(0, true));
    assertFalse(queue.enter(-1, false));
    assertFalse(queue.enter(1_000_000, true), "a wait that ends without the permit");

    queue.release();

    assertTrue(queue.enter(0, true));
  }

  @Test
  void anErrorBeforeTheOfferLeavesTheHoldWithItsCaller() {
    assertThrows(
        StackOverflowError.class,
        () ->
            queue.offerHold(
                HOLD,
                () -> {
                  throw new StackOverflowError("on purpose");
                }));

    assertNull(queue.takeHold());
  }

  @Test
  void theQueueIsInTheOrderOfArrival() throws Exception {
    assertTrue(queue.enter(0, true));
    List<BackgroundCall<Boolean>> waiters = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      waiters.add(waiter("thread " + i, i % 2 == 0 ? LeaseTerms.FOREVER : AN_HOUR, i < 3));
    }

    queue.release();

    for (BackgroundCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
    assertEquals(List.of("thread 1", "thread 2", "thread 3", "thread 4"), order);
  }

  /** Returns a queue whose clock fails at that reading, as without memory or stack. */
  private static LocalQueue failingAt(int reading) {
    AtomicInteger readings = new AtomicInteger();
    return new LocalQueue(
        () -> {
          if (readings.incrementAndGet() == reading) {
            throw new OutOfMemoryError("on purpose");
          }
          return 0;
        });
  }

  @Test
  void anErrorAfterTheWaitLeavesThePermitToTheNext() {
    LocalQueue failing = failingAt(1);

    assertThrows(OutOfMemoryError.class, () -> failing.enter(AN_HOUR, true));

    assertTrue(failing.enterIfFree());
  }

  @Test
  void anErrorWhileBargingLeavesThePermitToTheNext() {
    LocalQueue failing = failingAt(2); // the first reading comes before the permit
    failing.offerHold(HOLD);

    assertThrows(OutOfMemoryError.class, () -> failing.enter(AN_HOUR, true, hold -> true));

    assertTrue(failing.enterIfFree());
    assertSame(HOLD, failing.takeHold());
  }

  @Test
  void aLaterThreadDoesNotBarge() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(0, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));

      busy.release();

      assertFalse(busy.enter(1, true), "the first waiter has it and keeps it");
      assertTrue(first.get());
    }
  }

  @Test
  void anOfferedHoldMayBeTakenByBargingAFewTimesInARow() throws Exception {
    int most = 0;
    for (int round = 0; round < 1_000 && most < LocalQueue.MAX_BARGES; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      int times = barges(busy);
      assertTrue(first.get());
      assertTrue(times <= LocalQueue.MAX_BARGES, "barged " + times + " times");
      most = Math.max(most, times);
    }
    assertTrue(most > 0, "no thread was ever faster than the one that was woken");
  }

  @Test
  void aThreadThatCannotUseTheHoldDoesNotBarge() throws Exception {
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
  void noThreadBargesAfterTheWindow() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      clock.addAndGet(LocalQueue.BARGE_WINDOW_NANOS + 1);

      assertEquals(0, barges(busy));

      assertTrue(first.get());
    }
  }

  /** Enters by barging. */
  @FunctionalInterface
  private interface Newcomer {
    boolean enters(LocalQueue queue) throws InterruptedException;
  }

  private static int barges(LocalQueue busy) throws InterruptedException {
    return barges(busy, queue -> queue.enter(1, true, HOLD::equals));
  }

  /** Offers a hold to the waiter, and takes it again as often as possible. */
  private static int barges(LocalQueue busy, Newcomer newcomer) throws InterruptedException {
    int times = -1;
    do {
      busy.offerHold(HOLD);
      busy.release();
      times++;
    } while (newcomer.enters(busy) && busy.takeHold() != null);
    return times;
  }

  @Test
  void anAttemptWithoutAWaitCountsAsABargeToo() throws Exception {
    for (int round = 0; round < 1_000; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      int times = barges(busy, LocalQueue::enterIfFree);
      assertTrue(first.get());
      assertTrue(times <= LocalQueue.MAX_BARGES, "barged " + times + " times");
    }
  }

  @Test
  void anAttemptWithoutAWaitDoesNotBargeAfterTheWindow() throws Exception {
    for (int round = 0; round < 20; round++) {
      LocalQueue busy = new LocalQueue(clock::get);
      assertTrue(busy.enter(AN_HOUR, true));
      BackgroundCall<Boolean> first = BackgroundCall.startAndPark(() -> busy.enter(AN_HOUR, true));
      clock.addAndGet(LocalQueue.BARGE_WINDOW_NANOS + 1);

      assertEquals(0, barges(busy, LocalQueue::enterIfFree));

      assertTrue(first.get());
    }
  }

  @Test
  void anUnboundedUninterruptibleWaitKeepsItsPlaceThroughInterrupts() throws Exception {
    assertTrue(queue.enter(0, true));
    BackgroundCall<Boolean> first = waiter("first", LeaseTerms.FOREVER, false);
    BackgroundCall<Boolean> second = waiter("second", LeaseTerms.FOREVER, false);

    first.interrupt();
    first.awaitParked();
    first.interrupt();
    first.awaitParked();
    queue.release();

    assertTrue(first.get());
    assertTrue(second.get());
    assertEquals(List.of("first, interrupted", "second"), order);
  }

  @Test
  void aBoundedUninterruptibleWaitGoesOnThroughInterruptsUntilItIsOver() throws Exception {
    assertTrue(queue.enter(0, true));
    BackgroundCall<Boolean> waiter = waiter("waiter", AN_HOUR, false);
    BackgroundCall<Boolean> timedOut =
        BackgroundCall.start(
            () -> {
              Thread.currentThread().interrupt();
              boolean entered = queue.enter(1_000_000, false);
              return entered || !Thread.interrupted();
            });

    waiter.interrupt();
    waiter.awaitParked();
    assertFalse(timedOut.get(), "no permit, and the status is kept");
    queue.release();

    assertTrue(waiter.get());
    assertEquals(List.of("waiter, interrupted"), order);
  }

  @Test
  void anInterruptedThreadLeavesTheQueueWithoutAPermit() throws Exception {
    assertTrue(queue.enter(0, true));
    BackgroundCall<Boolean> unbounded = waiter("unbounded", LeaseTerms.FOREVER, true);
    BackgroundCall<Boolean> bounded = waiter("bounded", AN_HOUR, true);
    BackgroundCall<Boolean> last = waiter("last", AN_HOUR, true);

    unbounded.interrupt();
    bounded.interrupt();

    for (BackgroundCall<Boolean> gone : List.of(unbounded, bounded)) {
      var end = assertThrows(ExecutionException.class, gone::get);
      assertEquals(InterruptedException.class, end.getCause().getClass());
    }
    queue.release();
    assertTrue(last.get());
    assertEquals(List.of("last"), order);
  }

  @Test
  void releaseAllLetsAllWaitersEnter() throws Exception {
    assertTrue(queue.enter(0, true));
    BackgroundCall<Boolean> one = waiterThatKeeps();
    BackgroundCall<Boolean> two = waiterThatKeeps();

    queue.releaseAll(10);

    assertTrue(one.get());
    assertTrue(two.get());
    assertTrue(queue.enter(0, true));
  }

  @Test
  void hasWaitersTellsWhetherThreadsWait() throws Exception {
    assertTrue(queue.enter(0, true));
    assertFalse(queue.hasWaiters());

    BackgroundCall<Boolean> waiter = waiterThatKeeps();
    assertTrue(queue.hasWaiters());

    queue.release();
    assertTrue(waiter.get());
    assertFalse(queue.hasWaiters());
  }

  @Test
  void aBusyReplyCountsSinceItsTime() {
    long then = Long.MAX_VALUE - 5; // nanoTime may be anything, and wraps around
    assertFalse(queue.observations().isBusySince(then), "no reply yet");

    queue.recordBusy(then + 10);

    assertTrue(queue.observations().isBusySince(then));
    assertTrue(queue.observations().isBusySince(then + 10));
    assertFalse(queue.observations().isBusySince(then + 11));
  }

  @Test
  void anOutageCountsFromTheFirstFaultOfItsRow() {
    CommandException first = fault("first");
    CommandException second = fault("second");
    assertNull(queue.observations().faults());

    queue.recordAttempt(first, 100);
    queue.recordAttempt(second, 250);

    FaultSeries outage = queue.observations().faults();
    assertNotNull(outage);
    assertSame(second, outage.fault());
    assertEquals(100, outage.sinceNanos());
    assertEquals(250, outage.lastNanos());
  }

  @Test
  void aReplyEndsTheOutageAndTheNextFaultBeginsAnother() {
    queue.recordAttempt(fault("old"), 100);

    queue.recordAttempt(null, 200);
    assertNull(queue.observations().faults());

    queue.recordAttempt(fault("new"), 300);
    FaultSeries outage = queue.observations().faults();
    assertNotNull(outage);
    assertEquals(300, outage.sinceNanos());
  }

  @Test
  void anOutageIsFreshForASecondAfterItsLastFault() {
    long last = Long.MAX_VALUE - 10; // nanoTime may be anything, and wraps around
    FaultSeries outage = new FaultSeries(fault("lately"), last - 5 * SECOND, last);

    assertTrue(outage.isFresh(last));
    assertTrue(outage.isFresh(last + SECOND - 1));
    assertFalse(outage.isFresh(last + SECOND));
    assertFalse(outage.isFresh(last + 5 * SECOND));
  }

  /** Waits for the permit, records that, and releases it. */
  private BackgroundCall<Boolean> waiter(String name, long nanos, boolean interruptible) {
    return BackgroundCall.startAndPark(
        () -> {
          boolean entered = queue.enter(nanos, interruptible);
          order.add(Thread.interrupted() ? name + ", interrupted" : name);
          queue.release();
          return entered;
        });
  }

  private BackgroundCall<Boolean> waiterThatKeeps() {
    return BackgroundCall.startAndPark(() -> queue.enter(LeaseTerms.FOREVER, false));
  }

  private static CommandException fault(String message) {
    return new CommandException(Kind.UNREACHABLE, false, message, null);
  }
}
