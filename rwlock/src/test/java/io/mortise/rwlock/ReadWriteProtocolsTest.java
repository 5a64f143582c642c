package io.mortise.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerAwareProtocol.Caller;
import io.mortise.core.spi.CallerAwareProtocol.CallerHold;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The keys, channels and calls of both sides of a read-write lock. */
class ReadWriteProtocolsTest {
  private static final String HOLDER = "6f9619ff-8b86-8011-b42d-00cf4fc964ff:7";

  private final ReadWriteKeys unfair = keys("catalogue", false);
  private final ReadWriteKeys fair = keys("catalogue", true);

  private static ReadWriteKeys keys(String name, boolean fair) {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofSeconds(20))
            .tuning(t -> t.tokenRetention(Duration.ofMinutes(3)))
            .build();
    return new ReadWriteKeys(
        new LockName(name), options, fair, new WaiterTimeout(Duration.ofSeconds(8)));
  }

  private static Caller thatHolds(String kind) {
    return asked ->
        asked.equals(kind) ? Optional.of(new CallerHold(HOLDER, 42, 45)) : Optional.empty();
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
            "redisson_lock_timeout:{catalogue}",
            "mortise_readers:{catalogue}"),
        texts(unfair.ofMost));
    List<String> tagged = texts(keys("a:{b}:c", false).ofMost);
    assertEquals(List.of("a:{b}:c", "a:{b}:c", "redisson_rwlock:a:{b}:c"), tagged.subList(0, 3));
    assertEquals("redisson_lock_token:{catalogue}", texts(unfair.withToken).get(9));
  }

  @Test
  void inAQueueEachWaiterHasItsOwnChannel() {
    ReadLockProtocol reads = new ReadLockProtocol(unfair);
    WriteLockProtocol writes = new WriteLockProtocol(unfair);
    assertEquals("redisson_rwlock:{catalogue}", reads.channel(HOLDER));
    assertEquals("redisson_rwlock:{catalogue}", writes.channel(HOLDER));
    assertFalse(reads.hasChannelPerWaiter());
    String prefix = "redisson_rwlock:{catalogue}:" + HOLDER;
    assertEquals(prefix, new ReadLockProtocol(fair).channel(HOLDER));
    assertEquals(prefix + ":write", new WriteLockProtocol(fair).channel(HOLDER));
    assertTrue(new WriteLockProtocol(fair).hasChannelPerWaiter());
  }

  @Test
  void onlyWritersOfAnUnfairLockUseTheLocalQueue() {
    assertTrue(new WriteLockProtocol(unfair).usesLocalQueue());
    assertFalse(new WriteLockProtocol(fair).usesLocalQueue());
    assertFalse(new ReadLockProtocol(unfair).usesLocalQueue());
    assertFalse(new ReadLockProtocol(fair).usesLocalQueue());
  }

  @Test
  void onlyWritersOfAnUnfairLockHandTheirHoldsOff() {
    WriteLockProtocol writes = new WriteLockProtocol(unfair);
    assertTrue(writes.allowsHandOff());
    assertEquals("16", texts(writes.acquire(HOLDER, 900, true, 15).arguments()).get(5));
    assertEquals("1", texts(writes.acquire(HOLDER, 900, true, 0).arguments()).get(5));
    assertFalse(new WriteLockProtocol(fair).allowsHandOff());
    assertFalse(new ReadLockProtocol(unfair).allowsHandOff());
  }

  @Test
  void aWritingThreadReadsBelowItsOwnHold() {
    ReadLockProtocol reads = new ReadLockProtocol(unfair);
    assertSame(reads, reads.boundTo(thatHolds(ReadWriteProtocol.READ_LOCK)));
    LockProtocol below = reads.boundTo(thatHolds(ReadWriteProtocol.WRITE_LOCK));
    ScriptCall call = below.acquire("reader", 900, false, 0);
    assertEquals(HOLDER + ":write", texts(call.arguments()).get(3));
    assertEquals("0", texts(call.arguments()).get(4), "does not wait");
    assertEquals(List.of("42", "45"), texts(call.arguments()).subList(6, 8), "its tokens");
    assertEquals(reads.kind(), below.kind());
    assertTrue(reads.selfDeadlock(thatHolds(ReadWriteProtocol.WRITE_LOCK)).isEmpty());
  }

  @Test
  void aReadingThreadThatWritesWouldWaitForItself() {
    WriteLockProtocol writes = new WriteLockProtocol(unfair);
    assertTrue(writes.selfDeadlock(thatHolds(ReadWriteProtocol.WRITE_LOCK)).isEmpty());
    assertTrue(
        writes
            .selfDeadlock(thatHolds(ReadWriteProtocol.READ_LOCK))
            .orElseThrow()
            .contains("read lock"));
    assertSame(writes, writes.boundTo(thatHolds(ReadWriteProtocol.READ_LOCK)));
  }

  @Test
  void aHeartbeatIsSentFourTimesATimeoutAndIsValidForThreeQuarters() {
    for (QueueingProtocol each :
        List.of(
            new ReadLockProtocol(unfair),
            new WriteLockProtocol(unfair),
            new ReadLockProtocol(fair),
            new WriteLockProtocol(fair))) {
      var heartbeat = each.heartbeat(HOLDER);
      assertEquals(2_000, heartbeat.everyMillis());
      assertTrue(heartbeat.item().script().batch());
      assertEquals("6000", texts(heartbeat.item().arguments()).get(1));
      assertTrue(texts(each.acquire(HOLDER, 900, true, 0).arguments()).contains("6000"));
    }
  }

  @Test
  void timesAreInMilliseconds() {
    ReadLockProtocol reads = new ReadLockProtocol(unfair);
    WriteLockProtocol writes = new WriteLockProtocol(unfair);
    assertEquals(
        List.of(HOLDER, "900", "PUBLISH", "", "0", "180000", "0", "-1"),
        texts(reads.acquire(HOLDER, 900, false, 0).arguments()));
    assertEquals(
        List.of(HOLDER + ":write", "900", "PUBLISH", "0", "180000", "1"),
        texts(writes.acquire(HOLDER, 900, false, 0).arguments()));
    assertEquals(List.of("read", "PUBLISH", "20000"), texts(reads.forceRelease().arguments()));
    assertEquals(List.of("write", "PUBLISH", "20000"), texts(writes.forceRelease().arguments()));
  }

  @Test
  void aReaderIsItsHolderAndAWriterHasASuffix() {
    ReadLockProtocol reads = new ReadLockProtocol(unfair);
    WriteLockProtocol writes = new WriteLockProtocol(unfair);
    String writer = HOLDER + ":write";
    assertEquals(List.of(HOLDER, "PUBLISH"), texts(reads.release(HOLDER).arguments()));
    assertEquals(List.of(writer, "PUBLISH"), texts(writes.release(HOLDER).arguments()));
    assertEquals(List.of(HOLDER, "PUBLISH", "900"), texts(reads.keep(HOLDER, 900).arguments()));
    assertEquals(List.of(writer, "PUBLISH", "900"), texts(writes.keep(HOLDER, 900).arguments()));
    assertEquals(List.of(HOLDER, "PUBLISH"), texts(reads.leave(HOLDER).arguments()));
    assertEquals(List.of(writer, "PUBLISH"), texts(writes.leave(HOLDER).arguments()));
    assertEquals(List.of(HOLDER, "900"), texts(reads.renew(HOLDER, 900).arguments()));
    assertEquals(List.of(writer, "900"), texts(writes.renew(HOLDER, 900).arguments()));
    assertEquals(writer, writes.hashField(HOLDER));
    assertEquals(HOLDER, reads.hashField(HOLDER));
  }

  /** An old Redisson that renews a reader sets the leases of all readers to 30 s. */
  @Test
  void readersAreRenewedAtLeastEveryTenSeconds() {
    assertEquals(10_000, new ReadLockProtocol(unfair).maxRenewalIntervalMillis());
    assertEquals(10_000, new ReadLockProtocol(fair).maxRenewalIntervalMillis());
  }

  @Test
  void readersShareAHoldUnlessTheirThreadWritesOrTheLockIsFair() {
    assertTrue(new ReadLockProtocol(unfair).allowsSharing());
    assertFalse(new ReadLockProtocol(unfair, new CallerHold(HOLDER, 42, 45)).allowsSharing());
    assertFalse(new ReadLockProtocol(fair).allowsSharing());
  }

  @Test
  void repliesAreRead() {
    assertEquals(new AcquireResult.Acquired(7, 5), WaiterQueue.outcome(List.of(1L, 7L, 5L)));
    assertEquals(
        new AcquireResult.Busy(OptionalLong.of(900)), WaiterQueue.outcome(List.of(0L, 900L)));
    assertEquals(
        new AcquireResult.Queued(OptionalLong.empty()), WaiterQueue.outcome(List.of(2L, -1L)));
  }
}
