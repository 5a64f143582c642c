package io.mortise.connection.pubsub;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdleChannelsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEPT_ALIVE = 10 * SECOND;
  private static final long LATEST = 60 * SECOND;

  private boolean removable = true;
  private final IdleChannels idle = new IdleChannels(KEPT_ALIVE, channel -> removable);
  private final List<WakeupChannel> channels = new ArrayList<>();

  private WakeupChannel channel(boolean keptAlive) {
    WakeupChannel channel = new WakeupChannel("c" + channels.size(), keptAlive, 0);
    channels.add(channel);
    return channel;
  }

  private long look(long now) {
    return idle.findExpired(channels, now, LATEST);
  }

  /** Drops what the last look has found; returns how many. */
  private int drop() {
    channels.removeAll(idle.expired());
    return idle.expired().size();
  }

  @Test
  void spentChannelsExpireTogetherAfterASecond() {
    assertEquals(SECOND, idle.begins(channel(false), 0));
    idle.begins(channel(false), SECOND / 2);
    idle.begins(channel(false), SECOND);

    assertEquals(2 * SECOND, look(SECOND), "not at the end of the next one alone");
    assertEquals(1, drop());
    look(2 * SECOND);
    assertEquals(2, drop());
  }

  @Test
  void manySpentChannelsExpireAtOnceAndNoOthers() {
    idle.begins(channel(true), 0);
    WakeupChannel reserved = channel(false);
    reserved.reservedFor = "lock";
    idle.begins(reserved, 0);
    for (int i = 1; i < IdleChannels.MAX_SPENT; i++) {
      assertEquals(SECOND, idle.begins(channel(false), 0));
    }
    look(1);
    assertEquals(0, drop());

    assertEquals(2, idle.begins(channel(false), 2));

    assertEquals(SECOND, look(2), "that of the reserved one");
    assertEquals(IdleChannels.MAX_SPENT, drop());
    assertEquals(3 + SECOND, idle.begins(channel(false), 3), "they are not counted again");
  }

  @Test
  void aSharedChannelStaysForItsTime() {
    assertEquals(KEPT_ALIVE, idle.begins(channel(true), 0));

    assertEquals(KEPT_ALIVE, look(KEPT_ALIVE - SECOND));
    assertEquals(0, drop());
    assertEquals(LATEST, look(KEPT_ALIVE));
    assertEquals(1, drop());
  }

  @Test
  void aChannelInUseStays() {
    WakeupChannel used = channel(false);
    used.addWaiter();

    assertEquals(LATEST, look(LATEST - 1));
    assertEquals(0, drop());
  }

  @Test
  void channelsThatCannotBeRemovedAreNotLookedAtAgainAtOnce() {
    for (int i = 0; i < IdleChannels.MAX_SPENT; i++) {
      idle.begins(channel(false), 0);
    }
    removable = false;
    assertEquals(SECOND, look(0));
    assertEquals(0, drop());
    assertEquals(1 + SECOND, idle.begins(channel(false), 1), "that would be in vain");

    removable = true;
    look(SECOND);
    assertEquals(IdleChannels.MAX_SPENT + 1, drop());
  }

  @Test
  void aLookWithoutALingerTimeIsNotRepeatedAtOnce() {
    IdleChannels none = new IdleChannels(0, channel -> removable);
    none.begins(channel(false), 0);
    removable = false;

    assertEquals(SECOND / 20, none.findExpired(channels, 0, LATEST));
  }
}
