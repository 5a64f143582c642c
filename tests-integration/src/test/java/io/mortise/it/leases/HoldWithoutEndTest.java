package io.mortise.it.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hold whose key was made to live for ever (PERSIST), and that is verified after a fault. */
@Timeout(60)
@Tag("redis-version")
class HoldWithoutEndTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder());

  private final String name = tested.name();

  @ParameterizedTest
  @EnumSource
  void theVerificationOfAHoldSetsNoTtl(SingleServerLock kind) {
    Lease lease =
        kind.of(tested.client(), name).withLease(Duration.ofMinutes(5)).tryAcquire().orElseThrow();
    assertEquals(1L, redis.command("PERSIST", name));
    redis.resetStats();

    tested.proxy().closeConnections();
    assertTrue(new RedisLock(tested.client(), Names.fresh()).tryLock());
    // The script that verifies a hold calls HEXISTS; the one that acquires a free lock does not.
    Eventually.until("the hold is verified", () -> redis.calls("hexists") > 0);

    assertEquals(-1L, redis.ttlMillis(name));
    assertEquals(Lease.State.HELD, lease.state());
    if (kind != SingleServerLock.READ) {
      assertFalse(kind.of(tested.otherClient(), name).tryLock());
    }
    lease.close();
    assertFalse(redis.exists(name));
  }
}
