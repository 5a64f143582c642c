package io.mortise.core.spi;

import static io.mortise.core.internal.Interleavings.check;
import static io.mortise.core.internal.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a thread owns is its own, and a loss that others bring is seen by it, once it is there. */
@Tag("interleavings")
class OwnershipInterleavingsTest {
  private static final int SCHEDULES = 80;
  private static final Terms TERMS =
      Terms.of(LockOptions.defaults(), Duration.ZERO, Duration.ofMinutes(1), false);

  @Test
  void twoThreadsOwnTheirOwnHoldsOfOneLock() {
    check(
        SCHEDULES,
        () -> {
          FakeLease first = new FakeLease("orders");
          FakeLease second = new FakeLease("orders");
          FakeSource one = new FakeSource("orders", first);
          FakeSource same = new FakeSource("orders", second);
          race(() -> lockTwiceAndUnlock(one), () -> lockTwiceAndUnlock(same));
          assertEquals(1, first.releases.get());
          assertEquals(1, second.releases.get());
        });
  }

  private static void lockTwiceAndUnlock(FakeSource source) throws InterruptedException {
    assertTrue(Ownership.lock(source, TERMS));
    assertTrue(Ownership.lock(source, TERMS));
    assertEquals(2, Ownership.holdCount(source));
    Ownership.unlock(source);
    assertEquals(1, Ownership.holdCount(source));
    Ownership.unlock(source);
    assertEquals(0, Ownership.holdCount(source));
    assertThrows(IllegalMonitorStateException.class, () -> Ownership.unlock(source));
  }

  @Test
  void aLossThatComesMeanwhileIsThrownAtTheNextStepAndThenTheHoldIsGone() {
    check(
        SCHEDULES,
        () -> {
          FakeLease lease = new FakeLease("orders");
          FakeSource source = new FakeSource("orders", lease);
          boolean[] told = new boolean[1];
          race(
              () -> {
                try {
                  assertTrue(Ownership.lock(source, TERMS));
                  assertTrue(Ownership.lock(source, TERMS));
                  Ownership.unlock(source);
                  Ownership.unlock(source);
                } catch (LeaseLostException lost) {
                  told[0] = true;
                }
              },
              () -> lease.loses(Reason.FORCED, 0));
          assertTrue(told[0] || lease.releases.get() == 1);
        });
  }

  @Test
  void aMajorityThatWasOverIsNotMadeWhole() {
    check(
        SCHEDULES,
        () -> {
          FakeLease a = new FakeLease("a");
          FakeLease b = new FakeLease("b");
          FakeLease late = new FakeLease("c");
          FakeJoint joint =
              new FakeJoint(new FakeSource("joint"), 2, null, java.util.Arrays.asList(a, b, null));
          boolean[] joined = new boolean[1];
          race(() -> joined[0] = joint.joins(2, null, late), a::lose);
          // Either it came in time, or the hold is lost and nobody counts on it.
          assertEquals(joined[0], joint.isValid());
          assertEquals(joined[0] ? 0 : 1, joint.lost.get());
          assertFalse(!joined[0] && joint.at(2) == late);
        });
  }
}
