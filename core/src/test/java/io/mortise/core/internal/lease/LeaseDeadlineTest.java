package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LeaseDeadlineTest {
  private static final long END = after(Long.MAX_VALUE, -5); // the clock wraps around soon

  private final LeaseDeadline deadline = new LeaseDeadline(END);

  private static long after(long nanos, long more) {
    return nanos + more;
  }

  @Test
  void itIsOverFromItsEndOn() {
    assertFalse(deadline.expire(after(END, -1)));
    assertFalse(deadline.isOver());
    assertTrue(deadline.expire(END));
    assertTrue(deadline.isOver());
    assertTrue(deadline.expire(after(END, -1)), "over stays over");
    assertEquals(END, deadline.nanos(), "when it ended is still known");
  }

  /** An odd number says that it is over. */
  @Test
  void anOddEndIsTakenForTheEvenOneBefore() {
    assertEquals(END, new LeaseDeadline(after(END, 1)).nanos());
    assertTrue(deadline.lengthen(after(END, 11)));
    assertFalse(deadline.isOver());
    assertEquals(after(END, 10), deadline.nanos());
  }

  @Test
  void itIsExtendedAndNeverShortened() {
    assertTrue(deadline.lengthen(after(END, 10)));
    assertEquals(after(END, 10), deadline.nanos());
    assertTrue(deadline.lengthen(after(END, -10)), "nothing to lengthen, and not over");
    assertEquals(after(END, 10), deadline.nanos());
    assertFalse(deadline.expire(after(END, 9)));
  }

  @Test
  void aDeadlineThatIsOverIsNotExtended() {
    assertTrue(deadline.expire(END));
    assertFalse(deadline.lengthen(after(END, 10)));
    assertEquals(END, deadline.nanos());
  }

  @Test
  void aDeadlineThatIsEndedEarlyIsOver() {
    deadline.end();
    assertFalse(deadline.lengthen(after(END, 10)));
    assertTrue(deadline.expire(after(END, -10)));
  }

  @Test
  void redisMayKeepTheHoldLongerOnlyAfterAnExtensionWasSent() {
    assertFalse(deadline.mayOutlive());
    assertTrue(deadline.note(100));
    assertTrue(deadline.note(50));
    assertTrue(deadline.mayOutlive());
    assertEquals(100, deadline.notedMillis());
    deadline.end();
    assertFalse(deadline.note(200), "nothing may be sent any more");
  }
}
