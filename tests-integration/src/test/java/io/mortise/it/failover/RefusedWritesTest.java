package io.mortise.it.failover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ReportedLosses;
import io.mortise.it.support.SharedRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * One address leads to another master, as behind a load balancer, and connections stay open: the
 * former master refuses writes. One server plays both. With default options.
 */
@Timeout(60)
class RefusedWritesTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder());

  @Test
  void aHolderThatTheNextMasterDoesNotKnowIsNotifiedSoon() throws Exception {
    ReportedLosses losses = ReportedLosses.of(tested.lock().tryAcquire().orElseThrow());
    redis.command("FLUSHALL");
    redis.command("REPLICAOF", "127.0.0.1", "1");
    try {
      RedisLock other = new RedisLock(tested.client(), Names.fresh());
      assertEquals(
          LockException.Reason.READ_ONLY,
          assertThrows(LockException.class, other::tryLock).reason());
    } finally {
      redis.command("REPLICAOF", "NO", "ONE");
    }

    assertEquals(Reason.MISSING, losses.await(LongLease.WELL_WITHIN_A_RENEWAL).reason());
  }
}
