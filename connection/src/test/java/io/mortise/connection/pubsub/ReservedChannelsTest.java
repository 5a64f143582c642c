package io.mortise.connection.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pubsub.ReservedChannels.Reservation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReservedChannelsTest {
  private static final long SOON = ReservedChannels.LINGER_NANOS - 1;
  private static final long LATER = ReservedChannels.LINGER_NANOS;

  private final ReservedChannels reserved = new ReservedChannels();

  private List<WakeupChannel> make(String lock, int count) {
    List<WakeupChannel> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      WakeupChannel channel = new WakeupChannel(lock + i, false, 0);
      reserved.add(lock, "holder " + lock + i, channel);
      made.add(channel);
    }
    return made;
  }

  @Test
  void noneAreMadeForAWaitThatIsTheOnlyOneForLong() {
    assertEquals(0, reserved.shortfall("a", 0));
    assertEquals(0, reserved.shortfall("a", LATER));
    assertEquals(0, reserved.shortfall("b", LATER), "that is another lock");
    assertEquals(ReservedChannels.FIRST_BATCH, reserved.shortfall("a", LATER + SOON));
  }

  @Test
  void moreAreMadeWhenFewAreLeft() {
    reserved.shortfall("a", 0);
    make("a", reserved.shortfall("a", 1));
    assertEquals(0, reserved.shortfall("a", 2));
    for (int i = 0; i < ReservedChannels.FIRST_BATCH / 2; i++) {
      assertNotNull(reserved.take("a"));
    }
    assertEquals(0, reserved.shortfall("a", 3));
    assertNotNull(reserved.take("a"));
    assertEquals(ReservedChannels.FIRST_BATCH, reserved.shortfall("a", 4));
  }

  @Test
  void aBatchGrowsWhenAWaiterHasFoundNone() {
    reserved.shortfall("a", 0);
    int batch = reserved.shortfall("a", 1);
    for (int expected = ReservedChannels.FIRST_BATCH;
        expected <= ReservedChannels.MAX_BATCH;
        expected *= 2) {
      assertEquals(expected, batch);
      make("a", batch);
      takeAll("a");
      batch = reserved.shortfall("a", 2);
    }
    assertEquals(ReservedChannels.MAX_BATCH, batch);
  }

  @Test
  void aBatchDoesNotGrowWhileEachWaiterFindsOne() {
    reserved.shortfall("a", 0);
    for (int i = 0; i < 3; i++) {
      assertEquals(ReservedChannels.FIRST_BATCH, reserved.shortfall("a", i));
      make("a", ReservedChannels.FIRST_BATCH);
      for (int taken = 0; taken < ReservedChannels.FIRST_BATCH; taken++) {
        assertNotNull(reserved.take("a"));
      }
    }
  }

  @Test
  void aBatchIsSmallAgainAfterIdsWereDropped() {
    reserved.shortfall("a", 0);
    make("a", reserved.shortfall("a", 1));
    takeAll("a");
    List<WakeupChannel> made = make("a", reserved.shortfall("a", 2));
    assertEquals(2 * ReservedChannels.FIRST_BATCH, made.size());
    reserved.drop(made);
    assertEquals(ReservedChannels.FIRST_BATCH, reserved.shortfall("a", 3));
  }

  /** Takes all ids, and looks for one more. */
  private void takeAll(String lock) {
    while (reserved.take(lock) != null) {
      // the next one
    }
  }

  @Test
  void eachIsTakenOnceAndForItsLock() {
    List<WakeupChannel> made = make("a", 2);
    assertNull(reserved.take("b"));
    assertEquals(new Reservation("holder a0", made.get(0)), reserved.take("a"));
    assertNull(made.get(0).reservedFor, "it is somebody's now");
    assertEquals(new Reservation("holder a1", made.get(1)), reserved.take("a"));
    assertNull(reserved.take("a"));
  }

  @Test
  void whatIsNotSubscribedAnyMoreIsNotTaken() {
    List<WakeupChannel> made = make("a", 3);
    Reservation taken = reserved.take("a");
    assertNotNull(taken);
    reserved.drop(List.of(taken.channel(), made.get(1), new WakeupChannel("x", false, 0)));
    assertEquals(new Reservation("holder a2", made.get(2)), reserved.take("a"));
    assertNull(reserved.take("a"));
  }

  @Test
  void locksForWhichNobodyWaitsAnyMoreAreForgotten() {
    assertTrue(reserved.isEmpty());
    reserved.shortfall("a", 0);
    reserved.shortfall("b", 1);
    List<WakeupChannel> made = make("b", 1);
    reserved.forget(SOON);
    assertFalse(reserved.isEmpty());
    assertEquals(
        ReservedChannels.FIRST_BATCH, reserved.shortfall("a", SOON), "it was not forgotten");
    reserved.forget(LATER + SOON);
    reserved.drop(made);
    assertFalse(reserved.isEmpty(), "an id was there when it was asked to forget");
    reserved.forget(LATER + SOON);
    assertTrue(reserved.isEmpty());
  }
}
