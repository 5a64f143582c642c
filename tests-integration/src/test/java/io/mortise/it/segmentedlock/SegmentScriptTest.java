package io.mortise.it.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.scripts.ScriptCall;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The scripts of a segmented lock of two segments alone: what they answer, and whom they tell. */
@Timeout(30)
@Tag("redis-version")
class SegmentScriptTest {
  private static final long LEASE = 20_000;
  private static final List<Long> EXHAUSTED = List.of(3L);
  private static final List<Long> NOT_HELD = List.of(0L, 0L);

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();
  private final QueueingProtocol any = SegmentProtocols.any(name, bound -> 0);
  private final LockProtocol first = SegmentProtocols.segment(name, 0);
  private final LockProtocol second = SegmentProtocols.segment(name, 1);

  private static String id(String who) {
    return "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:" + who;
  }

  @SuppressWarnings("unchecked")
  private static List<Long> numbers(ScriptCall call) {
    return (List<Long>) redis.run(call);
  }

  /** Returns the segment that somebody gets, -1 for none. */
  private long acquire(String who, boolean waits) {
    List<Long> answer = numbers(any.acquire(id(who), LEASE, waits, 0));
    return answer.get(0) == 1 ? answer.get(3) : -1;
  }

  private void queue(String... waiters) {
    for (String who : waiters) {
      assertEquals(-1, acquire(who, true), who + " waits");
    }
    redis.published();
  }

  private List<String> told() {
    String prefix = any.channel("");
    return redis.published().stream()
        .filter(message -> message.startsWith(prefix))
        .map(message -> message.substring(prefix.length() + id("").length(), message.length() - 2))
        .toList();
  }

  private void hold(String one, String other) {
    assertEquals(0, acquire(one, false));
    assertEquals(1, acquire(other, false));
  }

  @Test
  void aRepeatedAttemptGetsTheSameSegment() {
    assertEquals(0, acquire("A", false));
    assertEquals(0, acquire("A", false));
    assertEquals(1, acquire("B", false));
    assertEquals(0, acquire("A", true));
    assertEquals(-1, acquire("C", false));
  }

  @Test
  void nobodyPassesThoseWhoWait() {
    hold("A", "B");
    queue("C");
    redis.run(first.release(id("A")));

    assertEquals(-1, acquire("D", false));
    assertEquals(-1, acquire("D", true));
    assertEquals(0, acquire("C", true));
    assertEquals(-1, acquire("D", true));
  }

  @Test
  void asManyAreToldAsThereAreFreeSegments() {
    hold("A", "B");
    queue("C", "D", "E");

    redis.run(any.release(id("A")));
    assertEquals(List.of("C"), told());
    redis.run(second.release(id("B")));
    assertEquals(List.of("C", "D"), told());

    assertEquals(0, acquire("D", true), "C does not come, and keeps one of two from the others");
    assertEquals(-1, acquire("E", true));
    assertEquals(1, acquire("C", true));
  }

  @Test
  void whoEntersTellsTheNextAfterLeasesHaveEnded() {
    hold("A", "B");
    queue("C", "D");
    redis.jedis().del(first.name().value(), second.name().value());

    assertEquals(0, acquire("C", true));
    assertEquals(List.of("D"), told());
  }

  @Test
  void aWaiterThatLeavesPassesOnWhatItWasTold() {
    hold("A", "B");
    queue("C", "D");
    redis.run(any.release(id("A")));
    told();

    assertEquals(List.of(1L, 0L), numbers(any.leave(id("C"))));
    assertEquals(List.of("D"), told());
    assertEquals(NOT_HELD, numbers(any.leave(id("C"))));
  }

  @Test
  void leavingReleasesWhatIsHeld() {
    hold("A", "B");
    queue("C");
    numbers(any.leave(id("B")));
    assertEquals(List.of("C"), told());
    assertEquals(1, acquire("C", true));
  }

  @Test
  void aReleaseHitsNobodyElse() {
    hold("A", "B");
    queue("C");

    assertEquals(NOT_HELD, numbers(any.release(id("X"))));
    assertEquals(NOT_HELD, numbers(first.release(id("B"))));
    assertEquals(1L, redis.run(first.forceRelease()));
    assertEquals(List.of(2L, 0L), numbers(any.release(id("A"))));
    assertEquals(List.of(2L, 0L), numbers(first.release(id("A"))));
    assertTrue(redis.jedis().hexists(second.name().value(), id("B")));

    assertEquals(0, acquire("C", false));
    assertEquals(1L, redis.run(first.forceRelease()));
    assertEquals(List.of(2L, 0L), numbers(first.release(id("C"))));
    assertEquals(List.of(2L, 0L), numbers(any.release(id("A"))), "the mark has both");
  }

  @Test
  void aMinimumLeavesTheSegmentBusy() {
    hold("A", "B");
    assertEquals(1, numbers(any.keep(id("A"), 5_000)).get(0));
    assertEquals(-1, acquire("C", false));
    assertEquals(NOT_HELD, numbers(any.release(id("A"))));
    redis.assertTtl(first.name().value(), 5_000);
  }

  @Test
  void theWaitersAreToldWhenAllIsExhausted() {
    hold("A", "B");
    queue("C", "D");
    assertEquals(1L, redis.run(SegmentProtocols.mark(name, 0, true)));
    assertEquals(List.of(), told());
    assertEquals(2L, redis.run(SegmentProtocols.mark(name, 1, true)));
    assertEquals(List.of("C", "D"), told());

    assertEquals(EXHAUSTED, numbers(any.acquire(id("C"), LEASE, true, 0)));
    assertEquals(EXHAUSTED, numbers(any.acquire(id("E"), LEASE, false, 0)));
    assertEquals(1, numbers(SegmentProtocols.state(name)).get(0), "C is not in the queue");
  }

  @Test
  void anExhaustedSegmentCountsAsNoFreeOne() {
    hold("A", "B");
    queue("C", "D");
    redis.run(SegmentProtocols.mark(name, 0, true));
    redis.run(any.release(id("A")));
    assertEquals(List.of(), told());
    redis.run(any.release(id("B")));
    assertEquals(List.of("C"), told());
    assertEquals(0L, redis.run(SegmentProtocols.mark(name, 0, false)));
    assertEquals(List.of("C", "D"), told());
  }

  @Test
  void aHeartbeatFindsASegmentThatWasReleasedWithoutAMessage() {
    hold("A", "B");
    queue("C", "D");
    assertEquals(List.of(1L), numbers(any.heartbeat(id("C")).item()));
    redis.jedis().del(first.name().value());
    assertEquals(List.of(2L), numbers(any.heartbeat(id("C")).item()));
    assertEquals(List.of(1L), numbers(any.heartbeat(id("D")).item()));
    assertEquals(List.of(0L), numbers(any.heartbeat(id("X")).item()));
  }

  @Test
  void tokensOfASegmentIncrease() {
    long token = numbers(any.acquire(id("A"), LEASE, false, 0)).get(1);
    redis.run(any.release(id("A")));
    List<Long> next = numbers(any.acquire(id("B"), LEASE, false, 0));
    assertEquals(token, next.get(2));
    assertTrue(next.get(1) > token);
  }

  /** An attempt whose reply was lost may arrive after the hold of its repetition was released. */
  @Test
  void aPlaceThatALateAttemptHasLeftGoesWithTheReleaseOfTheHold() {
    LockProtocol granted = any.granted(List.of(1L, 7L, 0L, 0L));
    hold("A", "B");
    queue("C", "D");
    redis.run(any.release(id("A")));
    told();

    redis.run(granted.leave(id("C")));
    assertEquals(List.of("D"), told());
    assertEquals(1, numbers(SegmentProtocols.state(name)).get(0));
    assertEquals(0, acquire("D", true));
  }

  /** The lease that they knew was longer: without a message they would come too late. */
  @Test
  void theWaitersAskAgainWhenAMinimumIsLeft() {
    hold("A", "B");
    queue("C", "D", "E");
    redis.run(second.keep(id("B"), 3_000));
    assertEquals(List.of("C", "D"), told());
    assertTrue(numbers(any.acquire(id("C"), LEASE, true, 0)).get(1) <= 3_000);
  }

  @Test
  void theSegmentsAreReadOnceForTheHeartbeatsOfAllWaiters() {
    hold("A", "B");
    queue("C", "D", "E");
    List<String> keys = new ArrayList<>();
    List<String> arguments = new ArrayList<>();
    for (String who : List.of("C", "D", "E", "X")) {
      ScriptCall item = any.heartbeat(id(who)).item();
      item.keys().forEach(key -> keys.add(new String(key, UTF_8)));
      item.arguments().forEach(argument -> arguments.add(new String(argument, UTF_8)));
    }

    long before = timesAskedForAnEnd();
    assertEquals(
        List.of(1L, 1L, 1L, 0L), redis.run("segment/heartbeat", keys, arguments.toArray()));
    assertEquals(SegmentProtocols.COUNT, timesAskedForAnEnd() - before);
  }

  private static long timesAskedForAnEnd() {
    return redis.server().commandStats().getOrDefault("pttl", 0L);
  }
}
