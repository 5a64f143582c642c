package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A master that has become a replica, behind a connection that did not break: it refuses attempts
 * and questions about a queue, also those that would write nothing. Its refusal is what tells the
 * client.
 */
@Timeout(60)
@Tag("redis-version")
class FormerMasterTest {
  private static final long LEASE = 60_000;

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();

  @AfterEach
  void promote() {
    redis.jedis().replicaofNoOne();
  }

  private static void assertRefused(Executable command) {
    redis.jedis().replicaof(redis.server().host(), 1);
    JedisDataException refusal = assertThrows(JedisDataException.class, command);
    assertEquals(Kind.READ_ONLY, ErrorClassifier.of(refusal, "here", true).kind());
  }

  @ParameterizedTest
  @EnumSource(names = {"FAIR", "FAIR_READ", "FAIR_WRITE", "ANY_SEGMENT"})
  void anAttemptAtAHeldLockThatDoesNotWaitIsRefused(ScriptedKind kind) {
    int holder = 0;
    for (LockProtocol held : kind.toHold(name)) {
      redis.run(held.acquire("fffffffe-0000-8000-8000-000000000000:" + ++holder, LEASE, true, 0));
    }
    LockProtocol lock = kind.of(name);
    String other = "fffffffd-0000-8000-8000-000000000000:1";
    assertEquals(0L, ((List<?>) redis.run(lock.acquire(other, LEASE, false, 0))).get(0));
    assertRefused(() -> redis.run(lock.acquire(other, LEASE, false, 0)));
  }

  /** Their marks may have been removed at the new master. */
  @Test
  void anAttemptWhileAllSegmentsAreExhaustedIsRefused() {
    for (int segment = 0; segment < SegmentProtocols.COUNT; segment++) {
      redis.run(SegmentProtocols.mark(name, segment, true));
    }
    LockProtocol any = ScriptedKind.ANY_SEGMENT.of(name);
    String holder = "fffffffe-0000-8000-8000-000000000000:1";
    assertEquals(List.of(3L), redis.run(any.acquire(holder, LEASE, true, 0)));
    assertRefused(() -> redis.run(any.acquire(holder, LEASE, true, 0)));
  }

  @Test
  void aQuestionAboutAQueueIsRefused() {
    LockName lock = new LockName(name);
    List<String> keys =
        List.of(lock.derive("redisson_lock_queue"), lock.derive("redisson_lock_timeout"));
    assertEquals(List.of(0L, -1L), redis.run("fair/queue", keys, ""));
    assertRefused(() -> redis.run("fair/queue", keys, ""));
  }

  @Test
  void aQuestionAboutSegmentsIsRefused() {
    LockName group = new LockName(name);
    List<String> keys =
        List.of(
            group.derive("mortise_segment_queue"),
            group.derive("mortise_segment_timeout"),
            group.derive("mortise_exhausted"));
    assertEquals(List.of(0L), redis.run("segment/state", keys));
    assertRefused(() -> redis.run("segment/state", keys));
  }
}
