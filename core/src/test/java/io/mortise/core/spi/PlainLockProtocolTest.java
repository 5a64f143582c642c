package io.mortise.core.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The keys, channels and payloads of {@code wire.md}, letter by letter. */
class PlainLockProtocolTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(20))
          .tuning(t -> t.tokenRetention(Duration.ofMinutes(3)))
          .build();

  private final PlainLockProtocol plain = new PlainLockProtocol(new LockName("order:42"), OPTIONS);
  private final PlainLockProtocol tagged =
      new PlainLockProtocol(new LockName("{shop}:42"), OPTIONS);

  @Test
  void acquireNamesTheHashTheTokenAndTheWaitersAndReservesOneToken() {
    assertCall(
        plain.acquire("client:1", 1500, true, 0),
        "lock/acquire",
        List.of("order:42", "redisson_lock_token:{order:42}", "mortise_waiters:{order:42}"),
        List.of("client:1", "1500", "180000", "1", "1"));
    assertCall(
        tagged.acquire("client:1", 1500, false, 0),
        "lock/acquire",
        List.of("{shop}:42", "redisson_lock_token:{shop}:42", "{shop}:42"),
        List.of("client:1", "1500", "180000", "1", "0"));
  }

  @Test
  void releaseNamesTheHashTheChannelAndTheMarkAndPublishes() {
    assertCall(
        plain.release("client:1"),
        "lock/release",
        List.of(
            "order:42",
            "redisson_lock__channel:{order:42}",
            "mortise_forced:{order:42}",
            "mortise_waiters:{order:42}"),
        List.of("client:1", "PUBLISH"));
    assertCall(
        tagged.release("client:1"),
        "lock/release",
        List.of(
            "{shop}:42",
            "redisson_lock__channel:{shop}:42",
            "mortise_forced:{shop}:42",
            "mortise_waiters:{shop}:42"),
        List.of("client:1", "PUBLISH"));
  }

  @Test
  void keepNamesTheKeysOfTheReleaseAndTheRest() {
    assertCall(
        plain.keep("client:1", 1500),
        "lock/keep",
        List.of(
            "order:42",
            "redisson_lock__channel:{order:42}",
            "mortise_forced:{order:42}",
            "mortise_waiters:{order:42}"),
        List.of("client:1", "PUBLISH", "1500"));
  }

  @Test
  void leavingIsARelease() {
    assertCall(
        plain.leave("client:1"),
        "lock/release",
        List.of(
            "order:42",
            "redisson_lock__channel:{order:42}",
            "mortise_forced:{order:42}",
            "mortise_waiters:{order:42}"),
        List.of("client:1", "PUBLISH"));
  }

  @Test
  void renewIsOneItemOfABatch() {
    ScriptCall call = plain.renew("client:1", 1500);

    assertCall(
        call,
        "lock/renew",
        List.of("order:42", "mortise_forced:{order:42}"),
        List.of("client:1", "1500"));
    assertTrue(call.script().batch());
    assertCall(
        tagged.renew("client:1", 1500),
        "lock/renew",
        List.of("{shop}:42", "mortise_forced:{shop}:42"),
        List.of("client:1", "1500"));
  }

  @Test
  void forceReleaseLeavesAMarkForTheTimeOfALease() {
    assertCall(
        plain.forceRelease(),
        "lock/force",
        List.of(
            "order:42",
            "redisson_lock__channel:{order:42}",
            "mortise_forced:{order:42}",
            "mortise_waiters:{order:42}"),
        List.of("PUBLISH", "20000"));
  }

  @Test
  void queryLeaseNamesOnlyTheHash() {
    assertCall(plain.queryLease(), "lock/inspect", List.of("order:42"), List.of());
  }

  @Test
  void everyWaiterSubscribesToTheChannelOfTheRelease() {
    assertEquals("redisson_lock__channel:{order:42}", plain.channel("client:1"));
    assertEquals("redisson_lock__channel:{order:42}", plain.channel("client:2"));
    assertEquals("redisson_lock__channel:{shop}:42", tagged.channel("client:1"));
  }

  @Test
  void registeredWaitersOfAClientSubscribeToItsChannel() {
    String client = "01234567-89ab-8def-0123-456789abcdef";
    assertEquals(
        "redisson_lock__channel:{order:42}:" + client, plain.channelWhenQueued(client + ":1-2-3"));
    assertEquals(
        "redisson_lock__channel:{shop}:42:" + client, tagged.channelWhenQueued(client + ":4"));
  }

  @Test
  void notifyNextNamesTheChannelsAndTheWaiters() {
    assertCall(
        plain.notifyNext(),
        "lock/notify",
        List.of("order:42", "redisson_lock__channel:{order:42}", "mortise_waiters:{order:42}"),
        List.of("PUBLISH"));
  }

  @Test
  void repliesAreRead() {
    assertEquals(
        new AcquireResult.Acquired(1_700_000L, 5), plain.outcome(List.of(1L, 1_700_000L, 5L)));
    OptionalLong soon = OptionalLong.of(250);
    assertEquals(new AcquireResult.Busy(soon), plain.outcome(List.of(0L, 250L)));
    assertEquals(new AcquireResult.Busy(OptionalLong.empty()), plain.outcome(List.of(0L, -1L)));
    assertEquals(new AcquireResult.Queued(soon), plain.outcome(List.of(2L, 250L)));
    assertEquals(new AcquireResult.Queued(soon, true), plain.outcome(List.of(3L, 250L)));
  }

  @Test
  void itsThreadsUseTheLocalQueueAndSendNoHeartbeat() {
    assertTrue(plain.usesLocalQueue());
    assertEquals("lock", plain.kind());
    assertEquals("order:42", plain.name().value());
    assertFalse(QueueingProtocol.class.isInstance(plain), "none of them has a place in Redis");
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
