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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeaseListenersTest {
  private static final LeaseLoss LOSS = new LeaseLoss("orders", 7, Reason.EXPIRED, 0, "it ran out");

  private final WorkerPool workers = new WorkerPool("test");
  private final LeaseListeners listeners =
      new LeaseListeners(SameWorkers.of(workers::execute), "orders", true);
  private final List<Object> notified = new CopyOnWriteArrayList<>();
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void close() {
    release.countDown();
    workers.close();
  }

  private void awaitNotified(Object... what) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of(what), new ArrayList<>(notified)));
  }

  private static void change(LeaseListeners listeners, State state) {
    assertTrue(listeners.changeAndNotify(() -> true, state, null));
  }

  private static void lose(LeaseListeners listeners) {
    assertTrue(listeners.changeAndNotify(() -> true, State.LOST, LOSS));
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
  void changesAreNotifiedInOrderAndTheLossLast() {
    listeners.onLost(notified::add);
    listeners.onStateChange(notified::add);

    change(listeners, State.AT_RISK);
    change(listeners, State.HELD);
    change(listeners, State.AT_RISK);
    lose(listeners);

    awaitNotified(State.AT_RISK, State.HELD, State.AT_RISK, State.LOST, LOSS);
  }

  @Test
  void aChangeThatFailsIsNotNotified() {
    listeners.onStateChange(notified::add);
    listeners.onLost(notified::add);

    assertFalse(listeners.changeAndNotify(() -> false, State.LOST, LOSS));
    change(listeners, State.HELD);

    awaitNotified(State.HELD);
  }

  @Test
  void anErrorInsteadOfAChangeIsNotNotified() {
    listeners.onStateChange(notified::add);

    assertThrows(
        OutOfMemoryError.class,
        () ->
            listeners.changeAndNotify(
                () -> {
                  throw new OutOfMemoryError("on purpose");
                },
                State.AT_RISK,
                null));
    change(listeners, State.HELD);

    awaitNotified(State.HELD);
  }

  @Test
  void listenersAreNotifiedInTheOrderOfTheirAddition() {
    for (int i = 0; i < 5; i++) {
      int number = i;
      listeners.onLost(loss -> notified.add(number));
    }

    lose(listeners);

    awaitNotified(0, 1, 2, 3, 4);
  }

  @Test
  void aLossIsNotifiedOnce() {
    listeners.onLost(notified::add);
    lose(listeners);
    awaitNotified(LOSS);

    listeners.onStateChange(notified::add);
    change(listeners, State.RELEASED); // a marker behind which nothing else may be

    awaitNotified(LOSS, State.RELEASED);
  }

  @Test
  void aListenerAddedAfterTheLossIsNotifiedAtOnceByItsOwnThread() {
    AtomicReference<Thread> notifier = new AtomicReference<>();
    lose(listeners);

    listeners.onLost(
        loss -> {
          notifier.set(Thread.currentThread());
          notified.add(loss);
        });

    assertSame(Thread.currentThread(), notifier.get());
    assertEquals(List.of(LOSS), notified);
  }

  @Test
  void aListenerIsNotifiedOnAWorkerAndNotUnderALock() {
    AtomicReference<Thread> notifier = new AtomicReference<>();
    listeners.onLost(
        loss -> {
          notifier.set(Thread.currentThread());
          listeners.onLost(notified::add); // would wait for itself, or be missed
        });

    lose(listeners);

    awaitNotified(LOSS);
    assertNotEquals(Thread.currentThread(), notifier.get());
    assertTrue(notifier.get().getName().startsWith("mortise-worker-"), notifier.get().getName());
  }

  /** As when no thread can be started, and none will be, because the client is closed. */
  @Test
  void aNotificationThatIsRejectedIsDeliveredByTheThreadOfTheChange() {
    LeaseListeners rejected =
        new LeaseListeners(
            SameWorkers.of(
                notification -> {
                  throw new RejectedExecutionException("on purpose");
                }),
            "orders",
            true);
    rejected.onLost(notified::add);
    var unused = rejected.onChangeWhileHeld(notified::add, true);

    lose(rejected);

    assertEquals(List.of(State.LOST, LOSS), notified);
  }

  @Test
  void aListenerThatThrowsDoesNotHarmTheOthers() {
    listeners.onLost(
        loss -> {
          throw new IllegalStateException("on purpose");
        });
    listeners.onLost(notified::add);

    lose(listeners);

    awaitNotified(LOSS);
  }

  @Test
  void aListenerThatThrowsAnErrorDoesNotHarmTheOthersOrLaterNotifications() {
    listeners.onStateChange(
        state -> {
          throw new AssertionError("on purpose");
        });
    listeners.onStateChange(notified::add);
    listeners.onLost(notified::add);

    change(listeners, State.AT_RISK);
    awaitNotified(State.AT_RISK);
    lose(listeners);

    awaitNotified(State.AT_RISK, State.LOST, LOSS);
  }

  @Test
  void anExceptionOfALateListenerDoesNotReachItsCaller() {
    lose(listeners);

    assertDoesNotThrow(
        () ->
            listeners.onLost(
                loss -> {
                  throw new IllegalStateException("on purpose");
                }));
  }

  @Test
  void aSlowListenerDelaysOnlyItsOwnLease() {
    LeaseListeners others = new LeaseListeners(SameWorkers.of(workers::execute), "others", true);
    CountDownLatch slow = new CountDownLatch(1);
    listeners.onLost(
        loss -> {
          slow.countDown();
          block();
          notified.add("slow");
        });
    listeners.onLost(loss -> notified.add("behind the slow"));
    others.onLost(loss -> notified.add("another lease"));

    lose(listeners);
    await().atMost(BackgroundCall.LIVENESS).until(() -> slow.getCount() == 0);
    lose(others);

    awaitNotified("another lease");
    release.countDown();
    awaitNotified("another lease", "slow", "behind the slow");
  }

  @Test
  void aSlowListenerDoesNotDelayDependentHolds() {
    CountDownLatch slow = new CountDownLatch(1);
    listeners.onStateChange(
        state -> {
          slow.countDown();
          block();
        });
    var unused = listeners.onChangeWhileHeld(notified::add, true);
    change(listeners, State.AT_RISK);
    await().atMost(BackgroundCall.LIVENESS).until(() -> slow.getCount() == 0);

    lose(listeners);

    awaitNotified(State.AT_RISK, State.LOST);
  }

  @Test
  void aSlowListenerDoesNotDelayTheLogOfTheLoss() {
    LeaseListeners logged =
        new LeaseListeners(
            new NotificationWorkers(
                workers::execute, workers::execute, line -> notified.add("logged")),
            "orders",
            true);
    logged.onLost(loss -> block());

    lose(logged);

    awaitNotified("logged");
  }

  @Test
  void aDependentHoldIsNotifiedNeitherOfTheReleaseNorAfterItsEnd() {
    Runnable end = listeners.onChangeWhileHeld(notified::add, true);
    change(listeners, State.RELEASED);
    change(listeners, State.AT_RISK);
    awaitNotified(State.AT_RISK);

    end.run();

    listeners.onStateChange(state -> notified.add("all"));
    change(listeners, State.HELD);
    awaitNotified(State.AT_RISK, "all");
  }

  @Test
  void aChangeDoesNotWaitForTheListeners() {
    listeners.onStateChange(
        state -> {
          block();
          notified.add(state);
        });

    change(listeners, State.AT_RISK);
    change(listeners, State.HELD);
    lose(listeners);

    assertEquals(List.of(), notified);
    release.countDown();
    awaitNotified(State.AT_RISK, State.HELD, State.LOST);
  }

  @Test
  void aListenerIsNotifiedOnlyOfLaterChanges() {
    change(listeners, State.AT_RISK);
    listeners.onStateChange(notified::add);

    change(listeners, State.HELD);

    awaitNotified(State.HELD);
    assertFalse(notified.contains(State.AT_RISK));
  }
}
