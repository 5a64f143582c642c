package io.mortise.it.events;

import static io.mortise.core.LockEvent.Type.ACQUIRED;
import static io.mortise.core.LockEvent.Type.LOST;
import static io.mortise.core.LockEvent.Type.NOT_ACQUIRED;
import static io.mortise.core.LockEvent.Type.REACHABLE;
import static io.mortise.core.LockEvent.Type.RENEWED_LATE;
import static io.mortise.core.LockEvent.Type.UNREACHABLE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server that is away and back, and the renewals that are late because of it. */
@Timeout(120)
class ServerEventsTest {
  private static final Duration LEASE = Duration.ofSeconds(9);

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final EventLog log = new EventLog();
  private final FaultProxy proxy = FaultProxy.to(redis.server());
  private final LockClient client =
      LockClient.create(
          proxy.uri(), log.options().lease(LEASE).commandTimeout(Duration.ofMillis(2_500)).build());
  private final RedisLock lock = new RedisLock(client, Names.fresh());

  @AfterEach
  void close() {
    client.close();
    proxy.close();
  }

  @Test
  void aServerIsUnreachableOnceAndReachableOnce() {
    lock.lock();
    lock.unlock();
    proxy.cut();

    for (int i = 0; i < 3; i++) {
      assertThrows(LockException.class, lock::tryLock);
    }
    log.await(NOT_ACQUIRED, 3);
    assertEquals(1, log.of(UNREACHABLE).size());
    proxy.restore();
    lock.lock();
    lock.unlock();

    LockEvent back = log.await(REACHABLE, 1).get(0);
    LockEvent away = log.of(UNREACHABLE).get(0);
    for (LockEvent event : List.of(away, back)) {
      assertTrue(event.server().orElseThrow().contains(":" + proxy.port()), event::toString);
      assertTrue(event.lockName().isEmpty());
      assertEquals(client.id(), event.clientId());
    }
    assertEquals(
        LockException.Reason.UNREACHABLE,
        assertInstanceOf(LockException.class, away.cause().orElseThrow()).reason());
    assertTrue(back.duration().isPresent());
    for (LockEvent failed : log.of(NOT_ACQUIRED)) {
      assertInstanceOf(LockException.class, failed.cause().orElseThrow());
    }
  }

  @Test
  void aServerThatWasNeverReachedIsUnreachable() {
    proxy.cut();

    assertThrows(LockException.class, lock::tryLock);

    log.await(UNREACHABLE, 1);
  }

  @Test
  void aRenewalThatFailedFirstIsReportedWhenItSucceeds() {
    Lease lease = lock.tryAcquire().orElseThrow();
    proxy.loseNextReply(LossStyle.SILENT, SharedRedis.calling("lock/renew"));

    LockEvent late = log.await(RENEWED_LATE, 1).get(0);

    assertTrue(lease.isValid());
    assertEquals(lease.fencingToken(), late.fencingToken().orElseThrow());
    assertEquals(
        log.of(ACQUIRED).get(0).acquisition().orElseThrow(), late.acquisition().orElseThrow());
    assertInstanceOf(LockException.class, late.cause().orElseThrow());
    assertTrue(late.duration().orElseThrow().compareTo(LEASE) < 0, late::toString);
    assertEquals(List.of(), log.of(LOST));
    lease.close();
  }
}
