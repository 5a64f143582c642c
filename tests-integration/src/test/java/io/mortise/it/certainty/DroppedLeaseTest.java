package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.SharedRedis;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Futures that their callers have given up, and leases that are never closed. */
@Timeout(60)
class DroppedLeaseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SOON = Duration.ofMillis(100);
  private static final Duration LEASE = Duration.ofSeconds(1);

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, LockOptions.builder().lease(LEASE));

  private final String name = tested.name();
  private final LockClient client = tested.client();
  private final RedisLock lock = tested.lock();
  private final RedisLock lockOfOther = tested.lockOfOther();

  private CompletableFuture<Optional<Lease>> waiter() {
    CompletableFuture<Optional<Lease>> waiter = lock.acquireAsync(LONG).toCompletableFuture();
    Eventually.until("it waits", () -> client.status().contended() == 1);
    return waiter;
  }

  private void assertTheWaitHasEndedAndTheLockIsFreeAfter(Lease held) {
    Eventually.until("no thread waits", () -> client.status().contended() == 0);
    held.close();
    try (Lease next = lockOfOther.tryAcquire().orElseThrow()) {
      assertTrue(next.isValid());
    }
    assertEquals(0, client.status().holds());
  }

  @Test
  void aTimeoutOfTheFutureEndsTheWait() {
    Lease held = lockOfOther.tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        waiter().orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS);
    ExecutionException seen = assertThrows(ExecutionException.class, waiter::get);
    assertTrue(seen.getCause() instanceof TimeoutException, () -> "" + seen);
    assertTheWaitHasEndedAndTheLockIsFreeAfter(held);
  }

  @Test
  void aCompletionByTheCallerEndsTheWait() {
    Lease held = lockOfOther.tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = waiter();
    assertTrue(waiter.complete(Optional.empty()));
    assertTheWaitHasEndedAndTheLockIsFreeAfter(held);
  }

  @Test
  void aFailureSetByTheCallerEndsTheWait() {
    Lease held = lockOfOther.tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = waiter();
    assertTrue(waiter.completeExceptionally(new IllegalStateException("not wanted any more")));
    assertTheWaitHasEndedAndTheLockIsFreeAfter(held);
  }

  @Test
  void aDroppedLeaseIsNotRenewed() {
    drop(lock);
    assertFreeAfterCollection(lockOfOther);
  }

  @Test
  void aDroppedReadLeaseIsNotRenewed() {
    drop(new RedisReadWriteLock(client, name).readLock());
    assertFreeAfterCollection(new RedisReadWriteLock(tested.otherClient(), name).writeLock());
  }

  /** The caller has a dependent stage, which has timed out when the lease arrives. */
  @Test
  void theLeaseOfADroppedStageIsNotRenewed() {
    Lease held = lockOfOther.tryAcquire().orElseThrow();
    CompletableFuture<Boolean> seen =
        lock.acquireAsync(LONG)
            .thenApply(
                lease -> {
                  lease.ifPresent(Lease::close);
                  return lease.isPresent();
                })
            .toCompletableFuture()
            .orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS);
    assertThrows(ExecutionException.class, seen::get);
    held.close();
    assertFreeAfterCollection(lockOfOther);
  }

  /** The second call finds the release of the first one under way, which has no answer yet. */
  @Test
  void aLeaseThatIsClosedDuringItsReleaseIsNotReportedAsDropped() throws Exception {
    LoggedWarnings.note();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient proxied = LockClient.create(proxy.uri())) {
      SharedRedis.warm(proxied);
      Lease lease = new RedisLock(proxied, name).tryAcquire().orElseThrow();
      proxy.delay(Direction.TO_CLIENT, LONG);
      CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
      Eventually.until("Redis has released it", () -> !lockOfOther.isLocked());

      lease.close();

      assertFalse(released.isDone(), "the release has no answer yet");
      proxy.restore();
      released.get();
      assertEquals(List.of(), LoggedWarnings.about(name));
    }
  }

  private static void drop(DistributedLock lock) {
    assertTrue(lock.tryAcquire().orElseThrow().isValid());
  }

  private void assertFreeAfterCollection(DistributedLock rival) {
    Eventually.until(
        "the dropped lease has ended",
        () -> {
          System.gc();
          Optional<Lease> next = rival.tryAcquire();
          next.ifPresent(Lease::close);
          return next.isPresent();
        });
    // The rival may have come first: then the lease that is dropped was granted only now.
    Eventually.until(
        "the client holds nothing, and waits for nothing",
        () -> {
          System.gc();
          return client.status().holds() == 0 && client.status().contended() == 0;
        });
  }

  @Test
  void aReachableLeaseIsRenewed() {
    RedisLock lock = tested.use(LockOptions.builder().lease(Duration.ofSeconds(3)));
    Duration longer = Duration.ofSeconds(4);
    Lease lease = lock.tryAcquire().orElseThrow();
    System.gc();
    Eventually.holdsFor(longer, "it is held", lease::isValid);
    System.gc();
    Eventually.holdsFor(longer, "it is held", lease::isValid);
    lease.close();
    assertFalse(lease.isValid());
  }
}
