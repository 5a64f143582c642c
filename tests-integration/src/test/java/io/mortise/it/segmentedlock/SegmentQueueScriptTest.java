package io.mortise.it.segmentedlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.scripts.ScriptCall;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The queue of those that would take any of two segments, when places in it are over. */
@Timeout(30)
@Tag("redis-version")
class SegmentQueueScriptTest {
  private static final long LEASE = 20_000;

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();
  private final QueueingProtocol any = SegmentProtocols.any(name, bound -> 0);
  private final List<String> keys =
      any.heartbeat(id("A")).item().keys().stream().map(key -> new String(key, UTF_8)).toList();

  private static String id(String who) {
    return "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:" + who;
  }

  private static List<String> ids(String... whos) {
    return Stream.of(whos).map(SegmentQueueScriptTest::id).toList();
  }

  private List<?> attempt(String who) {
    return (List<?>) redis.run(any.acquire(id(who), LEASE, true, 0));
  }

  @BeforeEach
  void twoHoldAndThreeWait() {
    assertEquals(0L, attempt("A").get(3), "the first segment");
    assertEquals(1L, attempt("B").get(3), "the second one");
    for (String waiter : List.of("C", "D", "E")) {
      assertEquals(2L, attempt(waiter).get(0));
    }
  }

  private List<String> queue() {
    return redis.jedis().lrange(keys.get(0), 0, -1);
  }

  private void endPlace(String id) {
    redis.jedis().zadd(keys.get(1), 1, id);
  }

  /** As after a stall of the server, or of the client: those that come are alive. */
  @Test
  void heartbeatsOfOneBatchKeepThePlacesOfAll() {
    queue().forEach(this::endPlace);
    ScriptCall[] batch =
        Stream.of("C", "D", "E")
            .map(who -> any.heartbeat(id(who)).item())
            .toArray(ScriptCall[]::new);
    assertEquals(List.of(1L, 1L, 1L), redis.run(batch));
    assertEquals(ids("C", "D", "E"), queue());
  }

  @Test
  void oneThatAsksKeepsItsPlace() {
    endPlace(id("D"));
    assertEquals(2L, attempt("D").get(0));
    assertEquals(ids("C", "D", "E"), queue());
  }

  /** Each of them is searched for in the queue, and Redis does nothing else meanwhile. */
  @Test
  void aScriptRemovesNoMoreThanAHundredDeadWaitersBehindTheHead() {
    for (int i = 0; i < 250; i++) {
      redis.jedis().rpush(keys.get(0), id("dead" + i));
      endPlace(id("dead" + i));
    }
    ScriptCall heartbeat = any.heartbeat(id("C")).item();
    redis.run(heartbeat);
    assertEquals(153, queue().size());
    redis.run(heartbeat);
    redis.run(heartbeat);
    assertEquals(ids("C", "D", "E"), queue());
  }

  @Test
  void aKeyOfAnotherTypeAtOneSegmentKeepsNoOtherHeld() {
    redis.jedis().del("{" + name + "}:0");
    redis.jedis().set("{" + name + "}:0", "not a lock");
    assertEquals(1L, ((List<?>) redis.run(any.release(id("B")))).get(0));
    assertFalse(redis.jedis().exists("{" + name + "}:1"));
  }
}
