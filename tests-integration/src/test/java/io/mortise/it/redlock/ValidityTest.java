package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ProxiedServers.tokenKey;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A hold is valid for its lease minus the elapsed time minus the clock drift. */
@Timeout(60)
class ValidityTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final Duration BUDGET = Duration.ofSeconds(5);

  private final String name = Names.fresh();

  @Test
  void aMajorityThatRepliesAfterTheLeaseIsNone() throws Exception {
    QuorumClients here = nodes.proxied(LockOptions.defaults(), BUDGET);
    nodes.proxy(1).delay(Direction.TO_CLIENT, Duration.ofMillis(400));
    nodes.proxy(2).delay(Direction.TO_CLIENT, Duration.ofMillis(400));
    RedLock lock = here.lock(name);
    LockException thrown =
        assertThrows(
            LockException.class, () -> lock.withLease(Duration.ofMillis(300)).tryAcquire());
    assertTrue(
        thrown
            .getMessage()
            .contains("longer than the lease of 300 ms less the clock drift; give a longer lease"),
        thrown::getMessage);
    nodes.restore();
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  /** Each answer takes longer than the whole lease. */
  @Test
  void aLeaseOfAMillisecondIsNoneAndTheErrorSaysWhy() throws Exception {
    QuorumClients here = nodes.proxied(LockOptions.defaults(), BUDGET);
    for (int node = 0; node < 3; node++) {
      nodes.proxy(node).delay(Direction.TO_CLIENT, Duration.ofMillis(50));
    }
    RedLock lock = here.lock(name);
    LockException thrown =
        assertThrows(LockException.class, () -> lock.withLease(Duration.ofMillis(1)).tryAcquire());
    assertTrue(
        thrown.getMessage().contains("the lease of 1 ms less the clock drift; give a longer lease"),
        thrown::getMessage);
    nodes.restore();
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  /** The replies arrive within the lease, but the clocks may differ by half of it. */
  @Test
  void theConfiguredClockDriftCountsAsElapsed() throws Exception {
    LockOptions drifting = LockOptions.builder().tuning(t -> t.clockDrift(0.5)).build();
    QuorumClients here = nodes.proxied(drifting, BUDGET);
    nodes.proxy(1).delay(Direction.TO_CLIENT, Duration.ofMillis(1_100));
    nodes.proxy(2).delay(Direction.TO_CLIENT, Duration.ofMillis(1_100));
    RedLock lock = here.lock(name);
    assertThrows(LockException.class, () -> lock.withLease(Duration.ofSeconds(2)).tryAcquire());
  }

  @ParameterizedTest
  @CsvSource({"0.0, 59998", "0.01, 59398", "0.5, 30000"})
  void theRemainingTimeIsTheLeaseMinusTheDrift(double drift, long most) throws Exception {
    LockOptions options = LockOptions.builder().tuning(t -> t.clockDrift(drift)).build();
    QuorumClients here = nodes.proxied(options, BUDGET);
    try (Lease lease = here.lock(name).acquire(LIVENESS, Duration.ofMinutes(1)).orElseThrow()) {
      long millis = lease.remaining().toMillis();
      assertTrue(millis <= most && millis > most - 10_000, () -> millis + " ms");
    }
  }

  @Test
  void theRemainingTimeIsTheShortestOfTheLongestMajority() throws Exception {
    List<LockClient> clients = new ArrayList<>();
    for (int minutes : List.of(1, 3, 2)) {
      LockOptions options = LockOptions.builder().lease(Duration.ofMinutes(minutes)).build();
      clients.add(nodes.client(nodes.server(clients.size()).uri(), options));
    }
    QuorumClients here = new QuorumClients(clients, BUDGET);
    try (Lease lease = here.acquireEverywhere(name)) {
      Eventually.until("two minutes remain", () -> within(lease.remaining(), 2));
    }
    here.awaitIdle();
  }

  private static boolean within(Duration left, int minutes) {
    Duration most = Duration.ofMinutes(minutes);
    return left.compareTo(most) < 0 && left.compareTo(most.minusSeconds(20)) > 0;
  }

  @Test
  void aLeaseOfTheCallerEndsByItself() throws Exception {
    QuorumClients here = nodes.proxied(LockOptions.defaults(), BUDGET);
    QuorumClients there = nodes.proxied(LockOptions.defaults(), BUDGET);
    Lease lease = here.lock(name).acquire(LIVENESS, Duration.ofMillis(800)).orElseThrow();
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    Lease next = there.acquire(name);
    assertEquals(State.LOST, lease.state(), "this side stops before the next begins");
    assertEquals(LeaseLoss.Reason.EXPIRED, lease.loss().orElseThrow().reason());
    assertTrue(next.fencingToken() > lease.fencingToken());
    Eventually.until("the loss is notified", () -> losses.size() == 1);
    next.close();
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  /** A majority has to know the token before a caller gets the lock. */
  @ParameterizedTest
  @EnumSource
  void aTokenThatCannotBeWrittenBackIsNoHold(LossStyle style) throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(1_500)).build();
    QuorumClients here = nodes.proxied(options, Duration.ofSeconds(2));
    here.cycle(name);
    for (int node = 0; node < 3; node++) {
      long ahead = nodes.token(name, node) + 1_000_000_000L * (node + 1);
      nodes.server(node).command("SET", tokenKey(name), Long.toString(ahead));
      nodes.proxy(node).loseReplies(100, style, calling("lock/raise"));
    }
    LockException thrown = assertThrows(LockException.class, () -> here.lock(name).tryLock());
    assertTrue(thrown.getMessage().contains("could not be written back"), thrown::getMessage);
    nodes.awaitHolding(name, 0);
    nodes.restore();
    QuorumLease lease = here.acquire(name);
    assertTrue(lease.fencingToken() > 1_000_000_000L * 2);
    lease.close();
  }
}
