package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.checkFaulty;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.core.LockOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hold is handed off, or an acquisition is bound to it, and never both. */
@Tag("interleavings")
class LeaseSlotInterleavingsTest {
  private static final int SCHEDULES = 200;

  /** A hold behind which another acquisition waits. */
  private static class Scenario {
    private final LeaseStateMachine state =
        new LeaseStateMachine("orders", SameWorkers.of(Runnable::run));
    private final LeaseSlot slot =
        new LeaseSlot(LockOptions.defaults().tuning(), new StoppedTicker(), new ClosingState());
    private volatile boolean bound;
    private volatile boolean handedOff;

    Scenario() {
      slot.set(new FakeQueueSlot());
      slot.reserveTokensUntil(16);
    }

    boolean isLive() {
      return state.now().isLive();
    }

    boolean pin() {
      return slot.pin(this::isLive);
    }

    void bind() {
      bound = pin();
    }

    void release() {
      if (state.beginRelease()) {
        handedOff = slot.mayHandOff(1);
      }
    }
  }

  private static final class StoppedTicker extends Ticker {
    @Override
    public long read() {
      return 0;
    }
  }

  /** Looks before it pins. */
  private static final class LookingFirst extends Scenario {
    @Override
    boolean pin() {
      boolean live = isLive();
      return super.pin() || live;
    }
  }

  private static void bindAndRelease(Scenario scenario) throws InterruptedException {
    race(scenario::bind, scenario::release);
    assertFalse(scenario.bound && scenario.handedOff);
  }

  @Test
  void aHoldToWhichAnAcquisitionIsBoundIsNotHandedOff() {
    check(SCHEDULES, () -> bindAndRelease(new Scenario()));
  }

  @Test
  void theTestFailsWhenTheAcquisitionLooksFirst() {
    checkFaulty(10 * SCHEDULES, () -> bindAndRelease(new LookingFirst()));
  }

  @Test
  void aHoldIsHandedOffUnlessItIsPinned() {
    Scenario free = new Scenario();
    free.release();
    assertTrue(free.handedOff);
    Scenario pinned = new Scenario();
    pinned.bind();
    pinned.release();
    assertTrue(pinned.bound);
    assertFalse(pinned.handedOff);
  }
}
