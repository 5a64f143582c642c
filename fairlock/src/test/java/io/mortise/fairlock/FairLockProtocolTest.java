package io.mortise.fairlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.RunProtocol;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The keys, channels and arguments of {@code wire.md}, each in its place and in its unit. */
class FairLockProtocolTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(20))
          .tuning(t -> t.tokenRetention(Duration.ofMinutes(3)))
          .build();
  private static final String QUEUE = "redisson_lock_queue:{order:42}";
  private static final String DEADLINES = "redisson_lock_timeout:{order:42}";
  private static final String CHANNEL = "redisson_lock__channel:{order:42}";
  private static final String WAITERS = "mortise_waiters:{order:42}";
  private static final String FORCED = "mortise_forced:{order:42}";

  private final FairLockProtocol fair =
      new FairLockProtocol(
          new LockName("order:42"), OPTIONS, new WaiterTimeout(Duration.ofSeconds(8)));

  @Test
  void acquireNamesTheLengthOfARunAndKeepsAPlaceForThreeQuartersOfTheTimeout() {
    List<String> keys = List.of("order:42", "redisson_lock_token:{order:42}", QUEUE, DEADLINES);
    assertCall(
        fair.acquire("client:1", 1500, true, 7),
        "fair/acquire",
        keys,
        List.of("client:1", "1500", "180000", "7", "6000"));
    assertCall(
        fair.acquire("client:1", 1500, false, 0),
        "fair/acquire",
        keys,
        List.of("client:1", "1500", "180000", "0", "0"));
  }

  @Test
  void releaseAndLeaveNameTheQueueAndPublish() {
    assertCall(
        fair.release("client:1"),
        "fair/release",
        List.of("order:42", CHANNEL, FORCED, QUEUE, DEADLINES, WAITERS),
        List.of("client:1", "PUBLISH", ""));
    assertCall(
        fair.keep("client:1", 1500),
        "fair/keep",
        List.of("order:42", CHANNEL, FORCED, QUEUE, DEADLINES, WAITERS),
        List.of("client:1", "PUBLISH", "1500", ""));
    assertCall(
        fair.leave("client:1"),
        "fair/leave",
        List.of("order:42", CHANNEL, QUEUE, DEADLINES, WAITERS),
        List.of("client:1", "PUBLISH", ""));
  }

  /** Of a grant with a run: a repeated release removes the same places. */
  @Test
  void everyEndOfAHoldNamesTheWaitersThatItHasServed() {
    RunProtocol granted =
        (RunProtocol) fair.granted(List.of(1L, 5L, 4L, bytes("client:2"), bytes("client:3")));
    assertEquals(List.of("client:2", "client:3"), granted.run());
    assertEquals(
        List.of("client:1", "PUBLISH", ""), texts(granted.release("client:1").arguments()));

    RunProtocol once = granted.servingNext();
    assertEquals(
        List.of("client:1", "PUBLISH", "client:2"), texts(once.release("client:1").arguments()));
    RunProtocol twice = once.servingNext();
    assertEquals(
        List.of("client:1", "PUBLISH", "9", "client:2 client:3"),
        texts(twice.keep("client:1", 9).arguments()));
    assertEquals(
        List.of("client:1", "PUBLISH", "client:2 client:3"),
        texts(twice.leave("client:1").arguments()));
    assertEquals(granted.run(), twice.run());
    assertSame(fair, fair.granted(List.of(1L, 5L, 4L)), "without a run");
  }

  @Test
  void forceReleaseLeavesAMarkForTheTimeOfALease() {
    assertCall(
        fair.forceRelease(),
        "fair/force",
        List.of("order:42", CHANNEL, FORCED, QUEUE, DEADLINES, WAITERS),
        List.of("PUBLISH", "20000"));
  }

  @Test
  void renewalAndQueryAreThoseOfThePlainLock() {
    assertCall(
        fair.renew("client:1", 1500),
        "lock/renew",
        List.of("order:42", FORCED),
        List.of("client:1", "1500"));
    assertCall(fair.queryLease(), "lock/inspect", List.of("order:42"), List.of());
  }

  @Test
  void aHeartbeatIsSentFourTimesATimeoutAndIsValidForThreeQuarters() {
    var heartbeat = fair.heartbeat("client:1");

    assertEquals(2_000, heartbeat.everyMillis());
    assertCall(
        heartbeat.item(),
        "fair/heartbeat",
        List.of("order:42", CHANNEL, QUEUE, DEADLINES),
        List.of("client:1", "6000", "PUBLISH"));
    assertTrue(heartbeat.item().script().batch());
  }

  @Test
  void eachWaiterHasItsOwnChannelAndRedisOrdersThem() {
    assertEquals(CHANNEL + ":client:1", fair.channel("client:1"));
    assertTrue(fair.hasChannelPerWaiter());
    assertFalse(fair.usesLocalQueue());
  }

  private static void assertCall(
      ScriptCall call, String script, List<String> keys, List<String> arguments) {
    assertEquals(script, call.script().path());
    assertEquals(keys, texts(call.keys()));
    assertEquals(arguments, texts(call.arguments()));
  }

  private static List<String> texts(List<byte[]> words) {
    return words.stream().map(word -> new String(word, UTF_8)).toList();
  }
}
