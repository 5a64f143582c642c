package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that refuses whatever takes memory: holds end, waiters keep their places. */
@Timeout(60)
@Tag("redis-version")
class WithoutMemoryTest {
  private static final long LEASE = 60_000;
  private static final String HOLDER = "fffffffe-0000-8000-8000-000000000000:1";
  private static final String WAITER = "fffffffd-0000-8000-8000-000000000000:1";

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();

  @AfterEach
  void noLimit() {
    limit("0");
  }

  private static void limit(String bytes) {
    redis.jedis().configSet("maxmemory", bytes);
  }

  private static long first(Object answer) {
    return (Long) (answer instanceof List<?> list ? list.get(0) : answer);
  }

  private LockProtocol heldWithoutMemory(ScriptedKind lock) {
    LockProtocol protocol = lock.of(name);
    assertEquals(1, first(redis.run(protocol.acquire(HOLDER, LEASE, false, 0))));
    limit("1");
    return protocol;
  }

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "FAIR", "WRITE", "READ", "SEGMENT"})
  void aLockIsReleasedByForceAndItsHolderIsTold(ScriptedKind lock) {
    LockProtocol protocol = heldWithoutMemory(lock);
    assertEquals(1, first(redis.run(protocol.forceRelease())));
    limit("0");
    assertEquals(2, first(redis.run(protocol.release(HOLDER))));
  }

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "FAIR", "WRITE", "READ", "SEGMENT"})
  void aHoldThatEndsEarlyKeepsTheLockBusyForTheRestOfItsMinimum(ScriptedKind lock) {
    LockProtocol protocol = heldWithoutMemory(lock);
    assertEquals(1, first(redis.run(protocol.keep(HOLDER, LEASE))));
    assertEquals(0, first(redis.run(protocol.release(HOLDER))), "it holds the lock no more");
    assertTrue(first(redis.run(protocol.queryLease())) > 0, "and nobody else can");
  }

  /** Those with a place and a heartbeat. */
  @ParameterizedTest
  @EnumSource(names = {"FAIR", "READ", "FAIR_READ", "FAIR_WRITE", "ANY_SEGMENT"})
  void aWaiterKeepsItsPlace(ScriptedKind lock) {
    for (LockProtocol held : lock.toHold(name)) {
      assertEquals(1, first(redis.run(held.acquire(HOLDER, LEASE, false, 0))));
    }
    QueueingProtocol protocol = (QueueingProtocol) lock.of(name);
    assertEquals(2, first(redis.run(protocol.acquire(WAITER, LEASE, true, 0))));
    redis.awaitNextMillisecond(); // so that its heartbeat says something new
    limit("1");
    assertEquals(1, first(redis.run(protocol.heartbeat(WAITER).item())));
    assertEquals(2, first(redis.run(protocol.acquire(WAITER, LEASE, true, 0))));
  }
}
