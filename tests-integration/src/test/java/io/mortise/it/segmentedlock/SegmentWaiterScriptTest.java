package io.mortise.it.segmentedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.scripts.ScriptCall;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Those that wait for one segment wait as for a plain lock: whatever ends the hold, notifies the
 * first of them, and answers who that is.
 */
@Timeout(30)
@Tag("redis-version")
class SegmentWaiterScriptTest {
  private static final long LEASE = 20_000;
  private static final String A = id("a");
  private static final String B = id("b");
  private static final String C = id("c");

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();
  private final QueueingProtocol any = SegmentProtocols.any(name, bound -> 0);
  private final LockProtocol segment = SegmentProtocols.segment(name, 0);

  private static String id(String client) {
    return client.repeat(8) + "-0000-8000-8000-" + client.repeat(12) + ":1-2-3";
  }

  private static List<?> answer(ScriptCall call) {
    return (List<?>) redis.run(call);
  }

  /** A holds the segment; B and C wait for it. */
  @BeforeEach
  void waitForTheSegment() {
    assertEquals(1L, answer(segment.acquire(A, LEASE, false, 0)).get(0));
    assertEquals(2L, answer(segment.acquire(B, LEASE, true, 0)).get(0));
    assertEquals(2L, answer(segment.acquire(C, LEASE, true, 0)).get(0));
    redis.published();
  }

  private List<String> registered() {
    return redis.jedis().zrange(segment.name().waitersKey(), 0, -1);
  }

  private void assertNotified(String first) {
    assertEquals(
        List.of(segment.channel("") + " 0", segment.channelWhenQueued(first) + " 0"),
        redis.published());
  }

  private void assertReleasedAndNotified(List<?> answer) {
    assertEquals(List.of(1L, 2L, 1L), answer, "the test hears both channels");
    assertNotified(B);
    assertEquals(List.of(C, B), registered());
  }

  @Test
  void theReleaseOfTheSegmentNotifiesTheFirst() {
    assertReleasedAndNotified(answer(segment.release(A)));
  }

  @Test
  void theReleaseOfAHoldOfAnySegmentNotifiesTheFirst() {
    assertReleasedAndNotified(answer(any.release(A)));
  }

  @Test
  void theRestOfAMinimumNotifiesTheFirst() {
    assertReleasedAndNotified(answer(segment.keep(A, 5_000)));
  }

  @Test
  void anAcquisitionOfAnySegmentThatLeavesItsHoldNotifiesTheFirst() {
    assertEquals(List.of(1L, 2L), answer(any.leave(A)));
    assertNotified(B);
  }

  @Test
  void aForcedReleaseNotifiesTheFirst() {
    assertEquals(1L, redis.run(segment.forceRelease()));
    assertNotified(B);
  }

  @Test
  void oneThatLeavesAFreeSegmentNotifiesTheNext() {
    answer(segment.release(A));
    redis.published();
    assertEquals(List.of(3L, 0L), answer(segment.leave(B)));
    assertEquals(List.of(segment.channelWhenQueued(C) + " 0"), redis.published());
    assertEquals(List.of(C), registered());
  }
}
