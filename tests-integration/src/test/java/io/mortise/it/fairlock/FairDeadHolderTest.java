package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.spi.LockName;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** As after a failover to a replica that has the release before, and not the grant. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPlaceThatComesBackWhenAGrantIsLostIsRemoved(boolean byItsRelease) throws Exception {
    RedisFairLock here = new RedisFairLock(clients.here(), "lost-grant", WAITER_TIMEOUT);
    RedisFairLock there = new RedisFairLock(clients.there(), "lost-grant", WAITER_TIMEOUT);
    LockName name = new LockName("lost-grant");
    here.lock();
    CompletionStage<Optional<Lease>> first = there.acquireAsync(WAIT);
    await().until(() -> here.queueLength() == 1);
    CompletionStage<Optional<Lease>> next = here.acquireAsync(WAIT);
    await().until(() -> here.queueLength() == 2);
    List<String> keys =
        List.of(
            name.value(), name.derive("redisson_lock_queue"), name.derive("redisson_lock_timeout"));
    Object place = clients.server().command("LINDEX", keys.get(1), "0");
    here.unlock();
    Lease granted = get(first);

    clients
        .server()
        .command(
            "EVAL",
            "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[2], ARGV[1]) return"
                + " redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])",
            "3",
            keys.get(0),
            keys.get(1),
            keys.get(2),
            String.valueOf(place),
            Long.toString(Instant.now().plus(WAITER_TIMEOUT).toEpochMilli()));
    if (byItsRelease) {
      assertThrows(LeaseLostException.class, granted::close);
    }

    get(next).close();
    assertEquals(LeaseLoss.Reason.MISSING, granted.loss().orElseThrow().reason());
    assertEquals(0, here.queueLength());
    if (!byItsRelease) {
      assertThrows(LeaseLostException.class, granted::close);
    }
  }

  private static Lease get(CompletionStage<Optional<Lease>> acquisition) throws Exception {
    return acquisition.toCompletableFuture().get(50, TimeUnit.SECONDS).orElseThrow();
  }
}
