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
import io.mortise.it.support.Names;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Futures that their callers have left, and leases that nobody closes. */
@Timeout(60)
class DroppedLeaseTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration SOON = Duration.ofMillis(100);
  private static final Duration LEASE = Duration.ofSeconds(1);

  private static RedisServer server;

  private final String name = Names.fresh();
  private LockClient client;
  private LockClient other;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void open() {
    client = LockClient.create(server.uri(), LockOptions.builder().lease(LEASE).build());
    other = LockClient.create(server.uri());
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  private CompletableFuture<Optional<Lease>> waiter() {
    CompletableFuture<Optional<Lease>> waiter =
        new RedisLock(client, name).acquireAsync(LONG).toCompletableFuture();
    Eventually.until("it waits", () -> client.status().contended() == 1);
    return waiter;
  }

  private void assertNobodyWaitsAndTheLockIsFreeAfter(Lease held) {
    Eventually.until("nobody waits", () -> client.status().contended() == 0);
    held.close();
    try (Lease next = new RedisLock(other, name).tryAcquire().orElseThrow()) {
      assertTrue(next.isValid());
    }
    assertEquals(0, client.status().holds());
  }

  @Test
  void aTimeoutOfTheFutureEndsTheWait() {
    Lease held = new RedisLock(other, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        waiter().orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS);
    ExecutionException seen = assertThrows(ExecutionException.class, waiter::get);
    assertTrue(seen.getCause() instanceof TimeoutException, () -> "" + seen);
    assertNobodyWaitsAndTheLockIsFreeAfter(held);
  }

  @Test
  void aCompletionByAnybodyEndsTheWait() {
    Lease held = new RedisLock(other, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = waiter();
    assertTrue(waiter.complete(Optional.empty()));
    assertNobodyWaitsAndTheLockIsFreeAfter(held);
  }

  @Test
  void aFailureSetByAnybodyEndsTheWait() {
    Lease held = new RedisLock(other, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = waiter();
    assertTrue(waiter.completeExceptionally(new IllegalStateException("not wanted any more")));
    assertNobodyWaitsAndTheLockIsFreeAfter(held);
  }

  @Test
  void aLeaseThatIsDroppedIsRenewedNoMore() {
    drop(new RedisLock(client, name));
    assertFreeAfterCollection(new RedisLock(other, name));
  }

  @Test
  void aReadLeaseThatIsDroppedIsRenewedNoMore() {
    drop(new RedisReadWriteLock(client, name).readLock());
    assertFreeAfterCollection(new RedisReadWriteLock(other, name).writeLock());
  }

  /** The stage that the caller has is another one, and is over when the lease comes. */
  @Test
  void aLeaseOfAStageThatNobodyLooksAtIsRenewedNoMore() {
    Lease held = new RedisLock(other, name).tryAcquire().orElseThrow();
    CompletableFuture<Boolean> seen =
        new RedisLock(client, name)
            .acquireAsync(LONG)
            .thenApply(
                lease -> {
                  lease.ifPresent(Lease::close);
                  return lease.isPresent();
                })
            .toCompletableFuture()
            .orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS);
    assertThrows(ExecutionException.class, seen::get);
    held.close();
    assertFreeAfterCollection(new RedisLock(other, name));
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
    Eventually.until("the client holds nothing", () -> client.status().holds() == 0);
  }

  @Test
  void aLeaseThatIsReachableIsRenewedOn() {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    System.gc();
    Eventually.holdsFor(LEASE.multipliedBy(2), "it is held", lease::isValid);
    System.gc();
    Eventually.holdsFor(LEASE.multipliedBy(2), "it is held", lease::isValid);
    lease.close();
    assertFalse(lease.isValid());
  }
}
