package io.mortise.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The keys, channels and payloads of {@code wire.md}, letter by letter, and the replies. */
class SegmentProtocolTest {
  private static final String ANY = "-1";

  private final SegmentKeys plain = new SegmentKeys(new LockName("stock"), 5);
  private final SegmentKeys tagged = new SegmentKeys(new LockName("a{shop}:stock"), 5);
  private final AnySegmentProtocol any =
      new AnySegmentProtocol(plain, LockOptions.defaults(), bound -> bound - 1);

  private static List<String> text(List<byte[]> words) {
    return words.stream().map(word -> new String(word, UTF_8)).toList();
  }

  private static String segmentArgument(ScriptCall release) {
    return text(release.arguments()).get(2);
  }

  @Test
  void aSegmentIsAPlainLockInTheSlotOfTheGroup() {
    LockProtocol segment = SegmentProtocol.of(plain, 3, LockOptions.defaults());
    assertEquals("{stock}:3", segment.name().value());
    assertEquals("redisson_lock__channel:{stock}:3", segment.channel("me"));
    assertEquals(
        List.of("{stock}:3", "redisson_lock_token:{stock}:3", "mortise_waiters:{stock}:3"),
        text(segment.acquire("me", 1_000, true, 0).keys()));
    assertEquals(
        "a{shop}:stock:3", SegmentProtocol.of(tagged, 3, LockOptions.defaults()).name().value());
  }

  @Test
  void anAttemptForAnySearchesFromARandomSegmentOn() {
    ScriptCall attempt = any.acquire("me", 1_000, true, 0);
    assertEquals(
        List.of(
            "mortise_segment_queue:{stock}",
            "mortise_segment_timeout:{stock}",
            "mortise_exhausted:{stock}",
            "mortise_segment_channel:{stock}"),
        text(attempt.keys()));
    assertEquals(
        List.of("{stock}", "5", "4", "me", "1000", "600000", "7500"),
        text(attempt.arguments()).subList(0, 7));
    assertEquals("mortise_segment_channel:{stock}:me", any.channel("me"));
    assertEquals("0", text(any.acquire("me", 1_000, false, 0).arguments()).get(6));
  }

  @Test
  void aReplySelectsTheLockOfTheHold() {
    List<Long> granted = List.of(1L, 7L, 6L, 2L);
    assertEquals(new AcquireResult.Acquired(7, 6), any.outcome(granted));
    assertEquals("{stock}:2", any.granted(granted).name().value());
    assertEquals(new AcquireResult.Busy(OptionalLong.of(12)), any.outcome(List.of(0L, 12L)));
    assertEquals(new AcquireResult.Queued(OptionalLong.empty()), any.outcome(List.of(2L, -1L)));
    assertEquals(new AcquireResult.Unavailable(), any.outcome(List.of(3L)));
  }

  /** A late attempt under the same id may have got another one after a loss. */
  @Test
  void theReleaseOfASelectedSegmentLooksAtAll() {
    LockProtocol selected = any.granted(List.of(1L, 7L, 6L, 2L));
    assertEquals(ANY, segmentArgument(selected.release("me")));
    assertEquals(ANY, segmentArgument(selected.keep("me", 5)));
    assertEquals(
        "2", segmentArgument(SegmentProtocol.of(plain, 2, LockOptions.defaults()).release("me")));
  }
}
