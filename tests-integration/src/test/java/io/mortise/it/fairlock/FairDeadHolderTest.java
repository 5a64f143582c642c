package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holders that die, and got the lock after the waiters behind them had asked for it. */
@Timeout(60)
class FairDeadHolderTest {
  private static final Duration LEASE = Duration.ofSeconds(3);

  /** Far longer than the test: no heartbeat is sent. */
  private static final Duration WAITER_TIMEOUT = Duration.ofHours(1);

  /** How late a waiter may be on a busy machine. */
  private static final Duration SLACK = Duration.ofSeconds(4);

  private static final Duration WAIT = Duration.ofSeconds(40);

  @RegisterExtension static final TwoClients clients = new TwoClients(LEASE);

  @Test
  void theNextWaiterAsksWithinALeaseAlsoBeforeItsHeartbeat() throws Exception {
    RedisFairLock here = new RedisFairLock(clients.here(), "dead-holder", WAITER_TIMEOUT);
    RedisFairLock there = new RedisFairLock(clients.there(), "dead-holder", WAITER_TIMEOUT);
    here.lock();
    CompletionStage<Optional<Lease>> dying = here.acquireAsync(WAIT, LEASE);
    await().until(() -> here.queueLength() == 1);
    CompletionStage<Optional<Lease>> next = there.acquireAsync(WAIT);
    await().until(() -> here.queueLength() == 2);
    here.unlock();
    Lease lost = get(dying);
    long start = System.nanoTime();
    get(next).close();
    Duration blocked = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(blocked.compareTo(LEASE.multipliedBy(2).plus(SLACK)) < 0, blocked::toString);
    assertThrows(LeaseLostException.class, lost::close);
  }

  private static Lease get(CompletionStage<Optional<Lease>> acquisition) throws Exception {
    return acquisition.toCompletableFuture().get(50, TimeUnit.SECONDS).orElseThrow();
  }
}
