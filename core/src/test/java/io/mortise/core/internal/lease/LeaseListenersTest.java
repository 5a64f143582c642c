package io.mortise.core.internal.lease;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeaseListenersTest {
  private static final LeaseLoss LOSS = new LeaseLoss("orders", 7, Reason.EXPIRED, 0, "it ran out");

  private final WorkerPool workers = new WorkerPool("test");
  private final LeaseListeners events = new LeaseListeners(workers::run, "orders", true);
  private final List<Object> told = new CopyOnWriteArrayList<>();
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void close() {
    release.countDown();
    workers.close();
  }

  private void awaitTold(Object... what) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of(what), new ArrayList<>(told)));
  }

  private static void change(LeaseListeners events, State state) {
    assertTrue(events.changeAndNotify(() -> true, state, null));
  }

  private static void lose(LeaseListeners events) {
    assertTrue(events.changeAndNotify(() -> true, State.LOST, LOSS));
  }

  /** Blocks until the test is over, or says so. */
  private void block() {
    try {
      assertTrue(release.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void changesAreToldInTheirOrderAndTheLossLast() {
    events.onLost(told::add);
    events.onStateChange(told::add);

    change(events, State.AT_RISK);
    change(events, State.HELD);
    change(events, State.AT_RISK);
    lose(events);

    awaitTold(State.AT_RISK, State.HELD, State.AT_RISK, State.LOST, LOSS);
  }

  @Test
  void aChangeThatWasNoneIsNotTold() {
    events.onStateChange(told::add);
    events.onLost(told::add);

    assertFalse(events.changeAndNotify(() -> false, State.LOST, LOSS));
    change(events, State.HELD);

    awaitTold(State.HELD);
  }

  @Test
  void anErrorInsteadOfAChangeIsNotTold() {
    events.onStateChange(told::add);

    assertThrows(
        OutOfMemoryError.class,
        () ->
            events.changeAndNotify(
                () -> {
                  throw new OutOfMemoryError("on purpose");
                },
                State.AT_RISK,
                null));
    change(events, State.HELD);

    awaitTold(State.HELD);
  }

  @Test
  void listenersAreToldInTheOrderInWhichTheyCame() {
    for (int i = 0; i < 5; i++) {
      int number = i;
      events.onLost(loss -> told.add(number));
    }

    lose(events);

    awaitTold(0, 1, 2, 3, 4);
  }

  @Test
  void aLossIsToldOnce() {
    events.onLost(told::add);
    lose(events);
    awaitTold(LOSS);

    events.onStateChange(told::add);
    change(events, State.RELEASED); // a marker behind which nothing else may be

    awaitTold(LOSS, State.RELEASED);
  }

  @Test
  void aListenerThatComesAfterTheLossIsToldAtOnceByItsOwnThread() {
    AtomicReference<Thread> teller = new AtomicReference<>();
    lose(events);

    events.onLost(
        loss -> {
          teller.set(Thread.currentThread());
          told.add(loss);
        });

    assertSame(Thread.currentThread(), teller.get());
    assertEquals(List.of(LOSS), told);
  }

  @Test
  void aListenerIsToldOnAThreadOfTheClientsAndNotUnderALock() {
    AtomicReference<Thread> teller = new AtomicReference<>();
    events.onLost(
        loss -> {
          teller.set(Thread.currentThread());
          events.onLost(told::add); // would wait for itself, or be missed
        });

    lose(events);

    awaitTold(LOSS);
    assertNotEquals(Thread.currentThread(), teller.get());
    assertTrue(teller.get().getName().startsWith("mortise-worker-"), teller.get().getName());
  }

  @Test
  void aListenerThatThrowsDoesNotHarmTheOthers() {
    events.onLost(
        loss -> {
          throw new IllegalStateException("on purpose");
        });
    events.onLost(told::add);

    lose(events);

    awaitTold(LOSS);
  }

  @Test
  void aListenerThatThrowsAnErrorDoesNotHarmTheOthersAndWhatComesLater() {
    events.onStateChange(
        state -> {
          throw new AssertionError("on purpose");
        });
    events.onStateChange(told::add);
    events.onLost(told::add);

    change(events, State.AT_RISK);
    awaitTold(State.AT_RISK);
    lose(events);

    awaitTold(State.AT_RISK, State.LOST, LOSS);
  }

  @Test
  void whatALateListenerThrowsDoesNotReachItsCaller() {
    lose(events);

    assertDoesNotThrow(
        () ->
            events.onLost(
                loss -> {
                  throw new IllegalStateException("on purpose");
                }));
  }

  @Test
  void aSlowListenerHoldsUpItsOwnLeaseOnly() {
    LeaseListeners others = new LeaseListeners(workers::run, "others", true);
    CountDownLatch slow = new CountDownLatch(1);
    events.onLost(
        loss -> {
          slow.countDown();
          block();
          told.add("slow");
        });
    events.onLost(loss -> told.add("behind the slow"));
    others.onLost(loss -> told.add("another lease"));

    lose(events);
    await().atMost(BackgroundCall.LIVENESS).until(() -> slow.getCount() == 0);
    lose(others);

    awaitTold("another lease");
    release.countDown();
    awaitTold("another lease", "slow", "behind the slow");
  }

  @Test
  void aSlowListenerDoesNotKeepALossFromTheHoldsThatAreMadeOfThisOne() {
    CountDownLatch slow = new CountDownLatch(1);
    events.onStateChange(
        state -> {
          slow.countDown();
          block();
        });
    var unused = events.onChangeWhileHeld(told::add, true);
    change(events, State.AT_RISK);
    await().atMost(BackgroundCall.LIVENESS).until(() -> slow.getCount() == 0);

    lose(events);

    awaitTold(State.AT_RISK, State.LOST);
  }

  @Test
  void aHoldThatIsMadeOfThisOneIsNotToldOfItsReleaseAndNothingAfterItsEnd() {
    Runnable end = events.onChangeWhileHeld(told::add, true);
    change(events, State.RELEASED);
    change(events, State.AT_RISK);
    awaitTold(State.AT_RISK);

    end.run();

    events.onStateChange(state -> told.add("all"));
    change(events, State.HELD);
    awaitTold(State.AT_RISK, "all");
  }

  @Test
  void whoTellsTheEventsDoesNotWaitForTheListeners() {
    events.onStateChange(
        state -> {
          block();
          told.add(state);
        });

    change(events, State.AT_RISK);
    change(events, State.HELD);
    lose(events);

    assertEquals(List.of(), told);
    release.countDown();
    awaitTold(State.AT_RISK, State.HELD, State.LOST);
  }

  @Test
  void aListenerHearsOnlyWhatHappensAfterItCame() {
    change(events, State.AT_RISK);
    events.onStateChange(told::add);

    change(events, State.HELD);

    awaitTold(State.HELD);
    assertFalse(told.contains(State.AT_RISK));
  }
}
