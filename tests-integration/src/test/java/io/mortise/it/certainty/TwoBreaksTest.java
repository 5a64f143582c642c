package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holds are verified after a second break of connections soon after the first, by default. */
@Timeout(60)
class TwoBreaksTest {
  /** Well before the next renewal, which would notice the loss too, at a third of the lease. */
  private static final long SOON_SECONDS = 4;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder());

  @Test
  void aLossAtTheSecondBreakIsNoticedSoon() throws Exception {
    RedisLock free = new RedisLock(tested.client(), Names.fresh());
    for (int round = 0; round < 5; round++) {
      CompletableFuture<LeaseLoss> notified = new CompletableFuture<>();
      Lease lease = tested.lock().tryAcquire().orElseThrow();
      lease.onLost(notified::complete);
      tested.proxy().closeConnections();
      assertFalse(free.isLocked(), "which meets the first break");
      redis.command("FLUSHALL");
      tested.proxy().closeConnections();
      assertFalse(free.isLocked(), "which meets the second");
      assertEquals(LeaseLoss.Reason.MISSING, notified.get(SOON_SECONDS, TimeUnit.SECONDS).reason());
    }
  }
}
