package io.mortise.it.failover;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
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
    refuseOneWrite();

    assertEquals(Reason.MISSING, losses.await(LongLease.WELL_WITHIN_A_RENEWAL).reason());
  }

  /** Otherwise it hears of no release: messages go to those who are subscribed at the master. */
  @Test
  void aWaiterSubscribesAtTheNextMaster() throws Exception {
    redis.holdAsStranger(tested.name());
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    String atTheFormerMaster = redis.subscribedConnections();

    refuseOneWrite();

    until(
        "another connection is subscribed",
        () -> !redis.subscribedConnections().equals(atTheFormerMaster));
    redis.awaitSubscriber(tested.name());
    tested.assertReleaseWakes(waiter);
  }

  private void refuseOneWrite() {
    redis.command("REPLICAOF", "127.0.0.1", "1");
    try {
      RedisLock other = new RedisLock(tested.client(), Names.fresh());
      assertEquals(
          LockException.Reason.READ_ONLY,
          assertThrows(LockException.class, other::tryLock).reason());
    } finally {
      redis.command("REPLICAOF", "NO", "ONE");
    }
  }
}
