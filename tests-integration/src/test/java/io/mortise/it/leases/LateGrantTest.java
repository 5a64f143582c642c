package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A grant whose reply arrives when its lease is over is no hold, and the commands that release it
 * affect no later hold.
 */
@Timeout(60)
class LateGrantTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.proxied(
              redis,
              LockOptions.builder()
                  .commandTimeout(Duration.ofSeconds(20))
                  .tuning(t -> t.subscriptionLinger(Duration.ZERO)))
          .warm()
          .leavingNothing();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();
  private final RedisLock lockOfOther = tested.lockOfOther();

  /** Starts an acquisition; when this returns Redis has granted it and its lease is over. */
  private AsyncCall<Optional<Lease>> startLateAcquisition(Duration wait) {
    proxy.delay(Direction.TO_CLIENT, HOUR);
    AsyncCall<Optional<Lease>> caller = AsyncCall.start(() -> lock.acquire(wait, LEASE));
    // Its token outlives the hold, which a test that is late may miss.
    until("Redis has granted the lock", () -> redis.exists("redisson_lock_token:{" + name + "}"));
    until("the lease is over", () -> !redis.exists(name));
    return caller;
  }

  private void awaitNoPendingRelease() {
    until("no release is pending", () -> tested.client().status().pendingReleases() == 0);
  }

  @Test
  void theNextHolderKeepsTheLock() throws Exception {
    AsyncCall<Optional<Lease>> caller = startLateAcquisition(LEASE.multipliedBy(2));
    lockOfOther.lock();
    List<?> holders = redis.holders(name);
    redis.resetStats();

    proxy.restore();

    assertEquals(Optional.empty(), caller.get(), "another client holds it");
    awaitNoPendingRelease();
    assertTrue(redis.calls("evalsha") >= 3, "attempts and a release were sent");
    assertEquals(holders, redis.holders(name));
    lockOfOther.lease().ensureValid();
    lockOfOther.unlock();
  }

  @Test
  void anAttemptWithoutAWaitSaysThatTheReplyWasTooLate() throws Exception {
    AsyncCall<Optional<Lease>> caller = startLateAcquisition(Duration.ZERO);
    lockOfOther.lock();
    List<?> holders = redis.holders(name);

    proxy.restore();

    LockException thrown = assertThrows(LockException.class, caller::get);
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(
        thrown
            .getMessage()
            .contains(
                "the answer took longer than the lease of 3000 ms less the clock drift; give a longer lease"),
        thrown.getMessage());
    awaitNoPendingRelease();
    assertEquals(holders, redis.holders(name));
    lockOfOther.unlock();
  }

  @Test
  void theSecondAttemptOfTheSameCallIsNotReleasedWithTheFirst() throws Exception {
    AsyncCall<Optional<Lease>> caller = startLateAcquisition(Duration.ofSeconds(20));

    proxy.restore();

    Lease lease = caller.get().orElseThrow();
    holdsFor(
        LEASE.multipliedBy(3).dividedBy(5), "it is held in Redis too", () -> redis.exists(name));
    lease.close();
    assertFalse(redis.exists(name), "one release is enough");
    lockOfOther.lock();
    awaitNoPendingRelease();
    lockOfOther.lease().ensureValid();
    lockOfOther.unlock();
  }
}
