package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.Interleavings;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hold ends once, whoever ends it, and each listener hears what happened, once and in order. */
@Tag("interleavings")
class LeaseStateMachineInterleavingsTest {
  private static final LeaseLoss EXPIRED = loss(Reason.EXPIRED);
  private static final LeaseLoss FORCED = loss(Reason.FORCED);
  private static final int SCHEDULES = 150;

  /** A hold, with the notifications of its listeners. */
  private static final class Hold {
    final LeaseStateMachine state = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
    final List<State> notified = new CopyOnWriteArrayList<>();
    final List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    final AtomicInteger ended = new AtomicInteger();

    Hold() {
      state.onStateChange(notified::add);
      state.onLost(losses::add);
    }

    void lose(LeaseLoss loss) {
      if (state.lose(loss)) {
        ended.incrementAndGet();
        assertSame(loss, state.now().loss());
      }
    }

    void release(LeaseLoss seen) {
      if (state.beginRelease()) {
        ended.incrementAndGet();
        assertSame(Phase.RELEASING, state.now().phase());
        state.endRelease(seen);
      }
    }

    /** The notifications are a path through the states that ends at the state of the hold. */
    void assertNotifiedInOrder() {
      State before = State.HELD;
      for (State next : notified) {
        boolean step =
            switch (next) {
              case AT_RISK -> before == State.HELD;
              case HELD -> before == State.AT_RISK;
              case LOST, RELEASED -> before == State.HELD || before == State.AT_RISK;
            };
        assertTrue(step, () -> "notified in the wrong order: " + notified);
        before = next;
      }
      assertEquals(state.now().state(), before, "the last change was not notified");
      LeaseLoss loss = state.now().loss();
      assertEquals(loss == null ? List.of() : List.of(loss), losses);
    }
  }

  private static LeaseLoss loss(Reason reason) {
    return new LeaseLoss("orders", 7, reason, 0, "seen in a test");
  }

  @Test
  void aHoldThatSeveralThreadsEndEndsOnce() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          race(() -> hold.lose(EXPIRED), () -> hold.lose(FORCED), () -> hold.release(null));
          assertEquals(1, hold.ended.get());
          assertFalse(hold.state.now().isLive());
          hold.assertNotifiedInOrder();
        });
  }

  @Test
  void aHoldThatTwoThreadsReleaseIsReleasedOnce() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          race(() -> hold.release(null), () -> hold.release(EXPIRED), hold.state::atRisk);
          assertEquals(1, hold.ended.get());
          hold.assertNotifiedInOrder();
        });
  }

  /** Without listeners there are few schedules, so that the decisive ones are among them. */
  @Test
  void oneOfTwoThreadsBeginsTheRelease() {
    check(
        SCHEDULES,
        () -> {
          LeaseStateMachine state = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
          AtomicInteger begun = new AtomicInteger();
          Interleavings.Step releaser =
              () -> {
                if (state.beginRelease()) {
                  begun.incrementAndGet();
                }
              };
          race(releaser, releaser);
          assertEquals(1, begun.get());
        });
  }

  @Test
  void nothingComesAfterTheEnd() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          race(
              () -> {
                hold.state.atRisk();
                hold.state.renewedInTime();
              },
              () -> hold.lose(EXPIRED));
          assertEquals(1, hold.ended.get());
          assertSame(Phase.LOST, hold.state.now().phase());
          hold.assertNotifiedInOrder();
        });
  }

  @Test
  void aLateRenewalDoesNotUndoARelease() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          race(
              () -> {
                hold.state.atRisk();
                hold.state.renewedInTime();
              },
              () -> hold.release(FORCED));
          assertEquals(1, hold.ended.get());
          assertSame(FORCED, hold.state.now().loss());
        });
  }

  @Test
  void changesAreNotifiedInTheirOrder() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          race(hold.state::atRisk, hold.state::renewedInTime, hold.state::atRisk);
          hold.assertNotifiedInOrder();
        });
  }

  /** It is the first one, so the change may find none. */
  @Test
  void aListenerIsNotifiedOfEachChangeAfterItsAddition() {
    check(
        SCHEDULES,
        () -> {
          LeaseStateMachine state = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
          List<State> notified = new CopyOnWriteArrayList<>();
          AtomicReference<Phase> whenAdded = new AtomicReference<>();
          race(
              state::atRisk,
              () -> {
                state.onStateChange(notified::add);
                whenAdded.set(state.now().phase());
              });
          assertSame(Phase.AT_RISK, state.now().phase());
          if (whenAdded.get() == Phase.HELD) {
            assertEquals(List.of(State.AT_RISK), notified);
          }
        });
  }

  @Test
  void aListenerIsNotifiedOfTheLossOnceWheneverItIsAdded() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          List<LeaseLoss> heard = new CopyOnWriteArrayList<>();
          race(() -> hold.lose(EXPIRED), () -> hold.state.onLost(heard::add));
          hold.state.onLost(heard::add);
          assertEquals(List.of(EXPIRED, EXPIRED), heard);
          hold.assertNotifiedInOrder();
        });
  }

  @Test
  void anUnseenLossIsThrownToOneOfTheCallersOfClose() {
    check(
        SCHEDULES,
        () -> {
          Hold hold = new Hold();
          AtomicInteger thrown = new AtomicInteger();
          Interleavings.Step closer =
              () -> {
                boolean first = hold.state.beginRelease();
                if (first) {
                  hold.state.endRelease(FORCED);
                }
                try {
                  hold.state.throwLossOnClose(first);
                } catch (LeaseLostException e) {
                  thrown.incrementAndGet();
                }
              };
          hold.lose(EXPIRED);
          race(closer, closer);
          assertEquals(1, thrown.get());
        });
  }
}
