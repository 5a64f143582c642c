package io.mortise.it.handoff;

import static io.mortise.it.support.Eventually.until;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.HoldRegistry;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.RegisteredHold;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The last reader of a shared hold releases it, whoever is expected to join. */
@Timeout(60)
class LastReaderTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** No renewal comes during the test, which would make an uncertain hold certain again. */
  @RegisterExtension
  final LockFixture tested =
      LockFixture.direct(
          redis, Turns.options(100, Duration.ofMinutes(1)).lease(Duration.ofHours(1)));

  private final RedisReadWriteLock lock = new RedisReadWriteLock(tested.client(), tested.name());
  private final RedisReadWriteLock lockOfOther =
      new RedisReadWriteLock(tested.otherClient(), tested.name());

  /** The reader that comes too late to join is refused by Redis, because a writer waits. */
  @Test
  void itDoesNotLeaveTheHoldToReadersThatWaitBehindAWriter() throws Exception {
    HoldRegistry holds = ((RedisLockClient) tested.client()).context().lease().holds();
    Lease last = lock.readLock().tryAcquire().orElseThrow();
    String holder = ((RedisLease) holds.all().stream().findFirst().orElseThrow()).holder();
    AsyncCall<Void> writer = AsyncCall.cycle(lockOfOther.writeLock()).awaitParked();
    holds.endEpoch(); // no reader joins an uncertain hold
    AsyncCall<Void> refused = AsyncCall.cycle(lock.readLock()).awaitParked();
    AsyncCall<Void> queued = AsyncCall.cycle(lock.readLock()).awaitQueued();
    holds.all().forEach(RegisteredHold::requestVerification);
    until(
        "the hold is certain again",
        () -> holds.all().stream().allMatch(hold -> ((RedisLease) hold).isSettled()));

    assertTrue(redis.holders(tested.name()).contains(holder));
    last.close();
    holds.endEpoch(); // a reader that looks from now on comes too late

    // Not at once: a reader that looked just before joined it. Long before any other check, which
    // would make a hold that was left certain again, and let readers join it.
    await("it is released")
        .atMost(Duration.ofSeconds(5))
        .until(() -> !redis.holders(tested.name()).contains(holder));
    AsyncCall.join(List.of(writer, refused, queued));
  }
}
