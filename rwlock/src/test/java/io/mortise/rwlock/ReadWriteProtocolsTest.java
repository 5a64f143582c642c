package io.mortise.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Caller;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProtocolTest {
  private static final String HOLDER = "6f9619ff-8b86-8011-b42d-00cf4fc964ff:7";

  private final ReadWriteScripts wire = wire("catalogue", false);
  private final ReadWriteScripts fair = wire("catalogue", true);

  private static ReadWriteScripts wire(String name, boolean fair) {
    LockOptions options = LockOptions.builder().build();
    return new ReadWriteScripts(
        new LockName(name), options, fair, new WaiterTimeout(Duration.ofSeconds(8)));
  }

  private static Caller thatHolds(String kind) {
    return asked -> asked.equals(kind) ? Optional.of(HOLDER) : Optional.empty();
  }

  private static List<String> texts(List<byte[]> values) {
    return values.stream().map(value -> new String(value, UTF_8)).toList();
  }

  @Test
  void theKeysAreThoseOfRedissonAndShareOneSlot() {
    assertEquals(
        List.of(
            "catalogue",
            "{catalogue}",
            "redisson_rwlock:{catalogue}",
            "mortise_write_intent:{catalogue}",
            "mortise_read_waiters:{catalogue}",
            "mortise_read_turn:{catalogue}",
            "redisson_lock_queue:{catalogue}",
            "redisson_lock_timeout:{catalogue}"),
        texts(wire.keys()));
    List<String> tagged = texts(wire("a:{b}:c", false).keys());
    assertEquals(List.of("a:{b}:c", "a:{b}:c", "redisson_rwlock:a:{b}:c"), tagged.subList(0, 3));
    assertEquals("redisson_lock_token:{catalogue}", texts(wire.keysAndToken()).get(8));
  }

  @Test
  void inAQueueEverybodyIsCalledByAChannelOfItsOwn() {
    LockProtocol reads = new ReadLockProtocol(wire, "");
    LockProtocol writes = new WriteLockProtocol(wire);
    assertEquals("redisson_rwlock:{catalogue}", reads.channel(HOLDER));
    assertEquals("redisson_rwlock:{catalogue}", writes.channel(HOLDER));
    assertFalse(reads.hasChannelPerWaiter());
    String prefix = "redisson_rwlock:{catalogue}:" + HOLDER;
    assertEquals(prefix, new ReadLockProtocol(fair, "").channel(HOLDER));
    assertEquals(prefix + ":write", new WriteLockProtocol(fair).channel(HOLDER));
    assertTrue(new WriteLockProtocol(fair).hasChannelPerWaiter());
  }

  @Test
  void onlyWritersWithoutAQueueWaitInTheLineOfTheirClient() {
    assertTrue(new WriteLockProtocol(wire).usesLocalQueue());
    assertFalse(new WriteLockProtocol(fair).usesLocalQueue());
    assertFalse(new ReadLockProtocol(wire, "").usesLocalQueue());
    assertFalse(new ReadLockProtocol(fair, "").usesLocalQueue());
  }

  @Test
  void aThreadThatWritesReadsBelowItsOwnHold() {
    ReadLockProtocol reads = new ReadLockProtocol(wire, "");
    assertSame(reads, reads.boundTo(thatHolds(ReadLockProtocol.KIND)));
    LockProtocol below = reads.boundTo(thatHolds(WriteLockProtocol.KIND));
    ScriptCall call = below.acquire("reader", 900, false);
    assertEquals(HOLDER + ":write", texts(call.arguments()).get(3));
    assertEquals("0", texts(call.arguments()).get(4), "does not wait");
    assertEquals(reads.kind(), below.kind());
    assertTrue(reads.selfDeadlock(thatHolds(WriteLockProtocol.KIND)).isEmpty());
  }

  @Test
  void aThreadThatReadsWouldWaitForItselfIfItWrote() {
    WriteLockProtocol writes = new WriteLockProtocol(wire);
    assertTrue(writes.selfDeadlock(thatHolds(WriteLockProtocol.KIND)).isEmpty());
    assertTrue(
        writes.selfDeadlock(thatHolds(ReadLockProtocol.KIND)).orElseThrow().contains("read lock"));
    assertSame(writes, writes.boundTo(thatHolds(ReadLockProtocol.KIND)));
  }

  @Test
  void aSignOfLifeComesFourTimesInThePresenceAndCountsForThreeQuarters() {
    for (LockProtocol each :
        List.of(
            new ReadLockProtocol(wire, ""),
            new WriteLockProtocol(wire),
            new ReadLockProtocol(fair, ""),
            new WriteLockProtocol(fair))) {
      var presence = each.heartbeat(HOLDER).orElseThrow();
      assertEquals(2_000, presence.everyMillis());
      assertTrue(presence.item().script().batch());
      assertEquals("6000", texts(presence.item().arguments()).get(1));
      assertTrue(texts(each.acquire(HOLDER, 900, true).arguments()).contains("6000"));
    }
  }

  @Test
  void answersAreRead() {
    assertEquals(new AcquireResult.Acquired(7, 5), ReadWriteScripts.outcome(List.of(1L, 7L, 5L)));
    assertEquals(new AcquireResult.Busy(900), ReadWriteScripts.outcome(List.of(0L, 900L)));
    assertEquals(new AcquireResult.Queued(-1), ReadWriteScripts.outcome(List.of(2L, -1L)));
  }
}
