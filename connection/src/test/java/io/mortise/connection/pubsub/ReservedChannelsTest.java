package io.mortise.connection.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pubsub.ReservedChannels.Spare;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReservedChannelsTest {
  private static final long SOON = ReservedChannels.LINGER_NANOS - 1;
  private static final long LATER = ReservedChannels.LINGER_NANOS;

  private final ReservedChannels spares = new ReservedChannels();

  private List<WakeupChannel> make(String lock, int count) {
    List<WakeupChannel> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      WakeupChannel channel = new WakeupChannel(lock + i, false);
      spares.add(lock, "holder " + lock + i, channel);
      made.add(channel);
    }
    return made;
  }

  @Test
  void noneAreMadeForAWaitThatIsTheOnlyOneForLong() {
    assertEquals(0, spares.shortfall("a", 0));
    assertEquals(0, spares.shortfall("a", LATER));
    assertEquals(0, spares.shortfall("b", LATER), "that is another lock");
    assertEquals(ReservedChannels.AT_ONCE, spares.shortfall("a", LATER + SOON));
  }

  @Test
  void moreAreMadeWhenFewAreLeft() {
    spares.shortfall("a", 0);
    make("a", spares.shortfall("a", 1));
    assertEquals(0, spares.shortfall("a", 2));
    for (int i = 0; i < ReservedChannels.AT_ONCE / 2; i++) {
      assertNotNull(spares.take("a"));
    }
    assertEquals(0, spares.shortfall("a", 3));
    assertNotNull(spares.take("a"));
    assertEquals(ReservedChannels.AT_ONCE, spares.shortfall("a", 4));
  }

  @Test
  void eachIsTakenOnceAndForItsLock() {
    List<WakeupChannel> made = make("a", 2);
    assertNull(spares.take("b"));
    assertEquals(new Spare("holder a0", made.get(0)), spares.take("a"));
    assertNull(made.get(0).spareOf, "it is somebody's now");
    assertEquals(new Spare("holder a1", made.get(1)), spares.take("a"));
    assertNull(spares.take("a"));
  }

  @Test
  void whatIsNotSubscribedAnyMoreIsNotTaken() {
    List<WakeupChannel> made = make("a", 3);
    Spare taken = spares.take("a");
    assertNotNull(taken);
    spares.drop(List.of(taken.channel(), made.get(1), new WakeupChannel("x", false)));
    assertEquals(new Spare("holder a2", made.get(2)), spares.take("a"));
    assertNull(spares.take("a"));
  }

  @Test
  void locksForWhichNobodyWaitsAnyMoreAreForgotten() {
    assertTrue(spares.areNone());
    spares.shortfall("a", 0);
    spares.shortfall("b", 1);
    List<WakeupChannel> made = make("b", 1);
    spares.forget(SOON);
    assertFalse(spares.areNone());
    assertEquals(ReservedChannels.AT_ONCE, spares.shortfall("a", SOON), "it was not forgotten");
    spares.forget(LATER + SOON);
    spares.drop(made);
    assertFalse(spares.areNone(), "a spare was there when it was asked to forget");
    spares.forget(LATER + SOON);
    assertTrue(spares.areNone());
  }
}
