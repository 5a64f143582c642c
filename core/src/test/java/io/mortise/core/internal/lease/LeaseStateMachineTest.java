package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class LeaseStateMachineTest {
  private static final LeaseLoss LOSS = new LeaseLoss("orders", 7, Reason.MISSING, 0, "it is gone");
  private static final LeaseLoss OTHER = new LeaseLoss("orders", 7, Reason.FORCED, 0, "by force");

  private final LeaseStateMachine state =
      new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));

  private static LeaseStateMachine in(Phase phase) {
    LeaseStateMachine state = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
    switch (phase) {
      case HELD -> {}
      case AT_RISK -> state.atRisk();
      case LOST -> state.lose(LOSS);
      case RELEASING -> state.beginRelease();
      case RELEASED -> {
        state.beginRelease();
        state.endRelease(null);
      }
    }
    assertEquals(phase, state.now().phase());
    return state;
  }

  private static boolean change(LeaseStateMachine state, String change) {
    return switch (change) {
      case "atRisk" -> state.atRisk();
      case "lose" -> state.lose(OTHER);
      case "releaseBegins" -> state.beginRelease();
      default -> {
        Phase before = state.now().phase();
        if (change.equals("onTime")) {
          state.renewedInTime();
        } else {
          state.endRelease(change.equals("releaseEnds") ? null : OTHER);
        }
        yield before != state.now().phase();
      }
    };
  }

  @ParameterizedTest(name = "{1} when {0}")
  @CsvSource({
    "HELD, atRisk, AT_RISK",
    "HELD, onTime, HELD",
    "HELD, lose, LOST",
    "HELD, releaseBegins, RELEASING",
    "HELD, releaseEnds, HELD",
    "AT_RISK, atRisk, AT_RISK",
    "AT_RISK, onTime, HELD",
    "AT_RISK, lose, LOST",
    "AT_RISK, releaseBegins, RELEASING",
    "RELEASING, atRisk, RELEASING",
    "RELEASING, onTime, RELEASING",
    "RELEASING, lose, RELEASING",
    "RELEASING, releaseBegins, RELEASING",
    "RELEASING, releaseEnds, RELEASED",
    "RELEASING, releaseEndsLost, LOST",
    "RELEASED, lose, RELEASED",
    "RELEASED, atRisk, RELEASED",
    "RELEASED, releaseBegins, RELEASED",
    "RELEASED, releaseEndsLost, RELEASED",
    "LOST, lose, LOST",
    "LOST, onTime, LOST",
    "LOST, releaseBegins, LOST",
    "LOST, releaseEnds, LOST",
  })
  void eachChangeIsMadeOnlyFromItsPhases(Phase from, String change, Phase to) {
    LeaseStateMachine state = in(from);
    List<State> told = new ArrayList<>();
    state.onStateChange(told::add);

    assertEquals(from != to, change(state, change), "whether it was made");

    assertEquals(to, state.now().phase());
    assertEquals(to.name(), state.toString());
    boolean seen = from != to && to != Phase.RELEASING;
    assertEquals(seen ? List.of(state.now().state()) : List.of(), told);
    // A hold that was handed off has ended as released, and its owner learns that it was lost.
    boolean lost = to == Phase.LOST || change.equals("releaseEndsLost");
    assertEquals(lost, state.loss().isPresent());
    if (from == Phase.LOST) {
      assertSame(LOSS, state.loss().orElseThrow(), "the first reason stands");
    }
  }

  @Test
  void aHoldThatIsBeingReleasedCountsAsHeldButIsNotValid() {
    state.beginRelease();

    assertEquals(State.HELD, state.now().state());
    assertThrows(IllegalMonitorStateException.class, () -> state.ensureValid(7));
  }

  @Test
  void theObserverOfTheEndGetsTheLossOrNothing() {
    List<Optional<LeaseLoss>> ends = new ArrayList<>();
    state.onEnd(loss -> ends.add(Optional.ofNullable(loss)));
    state.atRisk();
    state.renewedInTime();
    state.beginRelease();
    assertEquals(List.of(), ends);
    state.endRelease(null);
    assertEquals(List.of(Optional.empty()), ends);

    LeaseStateMachine lost = in(Phase.AT_RISK);
    lost.onEnd(loss -> ends.add(Optional.ofNullable(loss)));
    lost.lose(LOSS);
    LeaseStateMachine lostBefore = in(Phase.RELEASING);
    lostBefore.onEnd(loss -> ends.add(Optional.ofNullable(loss)));
    lostBefore.endRelease(OTHER);

    assertEquals(List.of(Optional.empty(), Optional.of(LOSS), Optional.of(OTHER)), ends);
  }

  @ParameterizedTest
  @CsvSource({"LOST", "RELEASED"})
  void theObserverOfTheEndIsCalledAtOnceIfThatIsPast(Phase phase) {
    List<Optional<LeaseLoss>> ends = new ArrayList<>();

    in(phase).onEnd(loss -> ends.add(Optional.ofNullable(loss)));

    assertEquals(List.of(phase == Phase.LOST ? Optional.of(LOSS) : Optional.empty()), ends);
  }

  @Test
  void onlyOneOfSeveralThreadsEndsAHold() throws Exception {
    List<Predicate<LeaseStateMachine>> ends =
        List.of(s -> s.lose(LOSS), s -> s.lose(OTHER), LeaseStateMachine::beginRelease);
    for (int round = 0; round < 500; round++) {
      LeaseStateMachine raced = new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
      AtomicInteger told = new AtomicInteger();
      raced.onLost(loss -> told.incrementAndGet());
      CyclicBarrier start = new CyclicBarrier(ends.size());
      List<BackgroundCall<Boolean>> threads = new ArrayList<>();
      for (Predicate<LeaseStateMachine> end : ends) {
        threads.add(
            BackgroundCall.start(
                () -> {
                  start.await();
                  return end.test(raced);
                }));
      }
      int made = 0;
      for (BackgroundCall<Boolean> thread : threads) {
        made += thread.get() ? 1 : 0;
      }
      assertEquals(1, made);
      assertEquals(raced.now().phase() == Phase.LOST ? 1 : 0, told.get());
    }
  }

  @Test
  void theLossIsThrownByTheFirstCloseAndToTheReleasingThread() {
    state.lose(LOSS);

    assertSame(
        LOSS, assertThrows(LeaseLostException.class, () -> state.throwLossOnClose(false)).loss());
    state.throwLossOnClose(false);
    assertThrows(LeaseLostException.class, () -> state.throwLossOnClose(true));
    assertThrows(LeaseLostException.class, state::throwIfLost);
    assertThrows(LeaseLostException.class, state::throwIfLost);
    assertThrows(LeaseLostException.class, () -> state.ensureValid(7));
  }

  @Test
  void aCloseDuringTheReleaseDoesNotHideTheLossFromALaterClose() {
    state.beginRelease();
    state.throwLossOnClose(false);
    state.endRelease(LOSS);

    assertThrows(LeaseLostException.class, () -> state.throwLossOnClose(false));
    state.throwLossOnClose(false);
  }

  @Test
  void aDependentIsNotifiedUntilItIsRemoved() {
    List<State> told = new ArrayList<>();
    Runnable removal = state.onChangeWhileHeld(told::add, false);
    state.atRisk();
    assertEquals(List.of(State.AT_RISK), told);

    removal.run();
    state.renewedInTime();

    assertEquals(List.of(State.AT_RISK), told);
  }

  @Test
  void aReleasedHoldThrowsNothingOnCloseAndSaysThatItWasReleased() {
    state.ensureValid(7);
    state.beginRelease();
    state.endRelease(null);

    state.throwLossOnClose(true);
    state.throwLossOnClose(false);
    state.throwIfLost();
    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, () -> state.ensureValid(7));
    assertEquals(
        "lock 'orders': the lease with fencing token 7 was released already", thrown.getMessage());
    assertFalse(thrown instanceof LeaseLostException);
  }

  @Test
  void aHoldOfAThreadCannotBeClosed() {
    state.ensureHandle(null);

    String message =
        assertThrows(
                IllegalMonitorStateException.class,
                () -> state.ensureHandle(new Thread(() -> {}, "worker 1")))
            .getMessage();

    assertTrue(message.contains("'orders': this hold belongs to thread 'worker 1'"), message);
  }
}
