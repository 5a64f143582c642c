package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * A hold of holds, seen late: its process was suspended, and more than one member had ended before
 * anybody looked.
 */
class CompositeLossesTest {
  private static final long START = System.nanoTime();
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");

  private static FakeComposite holdOf(int required, FakeLease... members) {
    return new FakeComposite(new FakeSource("composite"), required, null, Arrays.asList(members));
  }

  private static void ends(FakeLease member, long after) {
    member.loses(Reason.EXPIRED, START + after);
  }

  private static void assertLostAt(long after, FakeComposite hold) {
    assertEquals(START + after, hold.loss().orElseThrow().atNanos());
  }

  @Test
  void aMajorityIsLostWithTheMemberThatLeavesTooFew() {
    FakeComposite hold = holdOf(2, a, b, c);
    ends(c, 30);
    ends(a, 10);
    ends(b, 20);
    assertLostAt(20, hold);
  }

  @Test
  void anEmptyPlaceCountsAsLostBefore() {
    FakeComposite hold = holdOf(2, a, null, c);
    ends(a, 10);
    ends(c, 30);
    assertLostAt(10, hold);
  }

  @Test
  void aHoldOfAllIsLostWithTheFirst() {
    FakeComposite hold = holdOf(3, a, b, c);
    ends(b, 20);
    ends(a, 10);
    assertLostAt(10, hold);
  }

  @Test
  void aMemberThatJoinsLateDoesNotRestoreALostMajority() {
    FakeComposite hold = holdOf(2, a, b, null);
    ends(b, 10);
    assertFalse(hold.joins(2, null, c), "others may have held the lock in between");
    assertEquals(State.LOST, hold.state());
  }

  @Test
  void aMemberThatJoinsReplacesOneThatIsLostLater() {
    FakeComposite hold = holdOf(2, a, b, null);
    assertTrue(hold.joins(2, null, c));
    ends(b, 10);
    assertEquals(State.HELD, hold.state());
    ends(a, 40);
    assertLostAt(40, hold);
  }
}
