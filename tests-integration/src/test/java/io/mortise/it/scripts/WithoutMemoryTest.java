package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.fairlock.FairProtocols;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import io.mortise.rwlock.ReadWriteProtocols;
import io.mortise.segmentedlock.SegmentProtocols;
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

  /** The locks that can be released by force. */
  enum Forced {
    PLAIN,
    FAIR,
    WRITE,
    READ,
    SEGMENT;

    LockProtocol of(String name) {
      return switch (this) {
        case PLAIN -> new PlainLockProtocol(new LockName(name), LockOptions.defaults());
        case FAIR -> FairProtocols.of(name);
        case WRITE -> ReadWriteProtocols.writer(name, false);
        case READ -> ReadWriteProtocols.reader(name, false);
        case SEGMENT -> SegmentProtocols.segment(name, 0);
      };
    }
  }

  private LockProtocol heldWithoutMemory(Forced lock) {
    LockProtocol protocol = lock.of(name);
    assertEquals(1, first(redis.run(protocol.acquire(HOLDER, LEASE, false))));
    limit("1");
    return protocol;
  }

  @ParameterizedTest
  @EnumSource
  void aLockIsReleasedByForceAndItsHolderIsTold(Forced lock) {
    LockProtocol protocol = heldWithoutMemory(lock);
    assertEquals(1, first(redis.run(protocol.forceRelease())));
    limit("0");
    assertEquals(2, first(redis.run(protocol.release(HOLDER))));
  }

  @ParameterizedTest
  @EnumSource
  void aHoldThatEndsEarlyKeepsTheLockBusyForTheRestOfItsMinimum(Forced lock) {
    LockProtocol protocol = heldWithoutMemory(lock);
    assertEquals(1, first(redis.run(protocol.keep(HOLDER, LEASE))));
    assertEquals(0, first(redis.run(protocol.release(HOLDER))), "it holds the lock no more");
    assertTrue(first(redis.run(protocol.queryLease())) > 0, "and nobody else can");
  }

  /** The locks whose waiters have a place and a heartbeat. */
  enum Waited {
    FAIR,
    READ,
    FAIR_READ,
    FAIR_WRITE,
    ANY_SEGMENT;

    QueueingProtocol of(String name) {
      LockProtocol protocol =
          switch (this) {
            case FAIR -> FairProtocols.of(name);
            case READ -> ReadWriteProtocols.reader(name, false);
            case FAIR_READ -> ReadWriteProtocols.reader(name, true);
            case FAIR_WRITE -> ReadWriteProtocols.writer(name, true);
            case ANY_SEGMENT -> SegmentProtocols.any(name, bound -> 0);
          };
      return (QueueingProtocol) protocol;
    }

    /** Returns what has to be held, so that one waits. */
    List<LockProtocol> held(String name) {
      return switch (this) {
        case FAIR -> List.of(FairProtocols.of(name));
        case READ, FAIR_READ, FAIR_WRITE -> List.of(ReadWriteProtocols.writer(name, false));
        case ANY_SEGMENT ->
            List.of(SegmentProtocols.segment(name, 0), SegmentProtocols.segment(name, 1));
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void aWaiterKeepsItsPlace(Waited lock) {
    for (LockProtocol held : lock.held(name)) {
      assertEquals(1, first(redis.run(held.acquire(HOLDER, LEASE, false))));
    }
    QueueingProtocol protocol = lock.of(name);
    assertEquals(2, first(redis.run(protocol.acquire(WAITER, LEASE, true))));
    redis.awaitNextMillisecond(); // so that its heartbeat says something new
    limit("1");
    assertEquals(1, first(redis.run(protocol.heartbeat(WAITER).item())));
    assertEquals(2, first(redis.run(protocol.acquire(WAITER, LEASE, true))));
  }
}
