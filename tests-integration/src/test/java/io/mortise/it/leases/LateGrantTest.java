package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.assertIdle;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pitfall 26, and 12: a grant whose answer arrives when its lease is over is no hold, and what is
 * sent to release it hits nobody who came after.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class LateGrantTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final Duration HOUR = Duration.ofHours(1);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private LockClient other;
  private RedisLock lock;
  private RedisLock lockOfOther;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    client =
        LockClient.create(
            proxy.uri(),
            LockOptions.builder()
                .commandTimeout(Duration.ofSeconds(20))
                .subscriptionLinger(Duration.ZERO)
                .build());
    other = redis.client();
    lock = new RedisLock(client, name);
    lockOfOther = new RedisLock(other, name);
    warm(client);
  }

  @AfterEach
  void nothingIsLeft() {
    assertIdle(client);
    client.close();
    other.close();
    proxy.close();
    assertFalse(redis.exists(name), "nothing stays held");
  }

  /** Begins to acquire; when this returns Redis has granted the lock and the lease is over. */
  private AsyncCall<Optional<Lease>> grantedButNotHeard(Duration wait) {
    proxy.delay(Direction.TO_CLIENT, HOUR);
    AsyncCall<Optional<Lease>> caller = AsyncCall.start(() -> lock.acquire(wait, LEASE));
    until("Redis has granted the lock", () -> redis.exists(name));
    until("the lease is over", () -> !redis.exists(name));
    return caller;
  }

  @Test
  void whoHasTheLockByThenIsUntouched() throws Exception {
    AsyncCall<Optional<Lease>> caller = grantedButNotHeard(Duration.ofSeconds(4));
    lockOfOther.lock();
    List<?> holders = redis.holders(name);
    redis.server().resetStats();

    proxy.restore();

    assertEquals(Optional.empty(), caller.get(), "somebody else holds it");
    until("what may have been granted is released", () -> client.status().pendingReleases() == 0);
    assertTrue(redis.calls("evalsha") >= 3, "attempts and a release were sent");
    assertEquals(holders, redis.holders(name));
    lockOfOther.lease().ensureValid();
    lockOfOther.unlock();
  }

  @Test
  void anAttemptWithoutAWaitSaysThatTheAnswerWasTooLate() throws Exception {
    AsyncCall<Optional<Lease>> caller = grantedButNotHeard(Duration.ZERO);
    lockOfOther.lock();
    List<?> holders = redis.holders(name);

    proxy.restore();

    LockException thrown = assertThrows(LockException.class, caller::get);
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(
        thrown.getMessage().contains("the answer took longer than the lease of 1000 ms"),
        thrown.getMessage());
    until("what may have been granted is released", () -> client.status().pendingReleases() == 0);
    assertEquals(holders, redis.holders(name));
    lockOfOther.unlock();
  }

  @Test
  void theSecondAttemptOfTheSameCallerIsNotReleasedUnderItsHands() throws Exception {
    AsyncCall<Optional<Lease>> caller = grantedButNotHeard(Duration.ofSeconds(20));

    proxy.restore();

    Lease lease = caller.get().orElseThrow();
    holdsFor(
        LEASE.multipliedBy(3).dividedBy(5), "it is held in Redis too", () -> redis.exists(name));
    lease.close();
    assertFalse(redis.exists(name), "one release is enough");
    lockOfOther.lock();
    until("what may have been granted is released", () -> client.status().pendingReleases() == 0);
    lockOfOther.lease().ensureValid();
    lockOfOther.unlock();
  }
}
