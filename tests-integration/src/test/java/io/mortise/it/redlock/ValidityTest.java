package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.RedLock;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pitfall 26: a hold is valid for its lease, less what has passed, less the drift of clocks. */
@Timeout(60)
class ValidityTest {
  private static final Duration BUDGET = Duration.ofSeconds(5);

  private static FaultyNodes nodes;

  private final String name = Names.fresh();

  @BeforeAll
  static void startNodes() {
    nodes = FaultyNodes.start(3);
  }

  @AfterAll
  static void stopNodes() {
    nodes.close();
  }

  @AfterEach
  void restore() {
    nodes.restore();
  }

  @Test
  void aMajorityThatAnswersAfterTheLeaseIsNone() throws Exception {
    try (QuorumClients here = nodes.party(LockOptions.defaults(), BUDGET).warm()) {
      nodes.proxy(1).delay(Direction.TO_CLIENT, Duration.ofMillis(400));
      nodes.proxy(2).delay(Direction.TO_CLIENT, Duration.ofMillis(400));
      RedLock lock = here.lock(name);
      LockException thrown =
          assertThrows(LockException.class, () -> lock.tryAcquire(Duration.ofMillis(300)));
      assertTrue(thrown.getMessage().contains("longer than the lease"), thrown::getMessage);
      nodes.restore();
      nodes.awaitHolding(name, 0);
      here.awaitIdle();
    }
  }

  /** The answers come within the lease, but the clocks may differ by half of it. */
  @Test
  void theDriftThatIsAllowedForCountsAsPassed() throws Exception {
    LockOptions drifting = LockOptions.builder().clockDrift(0.5).build();
    try (QuorumClients here = nodes.party(drifting, BUDGET).warm()) {
      nodes.proxy(1).delay(Direction.TO_CLIENT, Duration.ofMillis(1_100));
      nodes.proxy(2).delay(Direction.TO_CLIENT, Duration.ofMillis(1_100));
      RedLock lock = here.lock(name);
      assertThrows(LockException.class, () -> lock.tryAcquire(Duration.ofSeconds(2)));
      nodes.restore();
      nodes.awaitHolding(name, 0);
    }
  }

  @ParameterizedTest
  @CsvSource({"0.0, 59998", "0.01, 59398", "0.5, 30000"})
  void whatRemainsIsTheLeaseLessTheDrift(double drift, long most) throws Exception {
    LockOptions options = LockOptions.builder().clockDrift(drift).build();
    try (QuorumClients here = nodes.party(options, BUDGET).warm();
        Lease lease =
            here.lock(name).acquire(QuorumClients.LIVENESS, Duration.ofMinutes(1)).orElseThrow()) {
      long millis = lease.remaining().toMillis();
      assertTrue(millis <= most && millis > most - 10_000, () -> millis + " ms");
    }
  }

  @Test
  void whatRemainsIsThatOfTheWeakestOfTheStrongestMajority() throws Exception {
    List<LockClient> clients = new ArrayList<>();
    try {
      RedLock.Builder builder = RedLock.builder().nodeWaitBudget(BUDGET);
      for (int i = 0; i < 3; i++) {
        Duration lease = Duration.ofMinutes(List.of(1, 3, 2).get(i));
        clients.add(
            LockClient.create(nodes.server(i).uri(), LockOptions.builder().lease(lease).build()));
        builder.member(new RedisLock(clients.get(i), name));
      }
      QuorumClients here = new QuorumClients(clients, BUDGET);
      RedLock lock = builder.build();
      try (Lease lease = lock.acquire(QuorumClients.LIVENESS).orElseThrow()) {
        nodes.awaitHolding(name, 3);
        Eventually.until("two minutes are sure", () -> within(lease.remaining(), 2));
      }
      here.awaitIdle();
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  private static boolean within(Duration left, int minutes) {
    Duration most = Duration.ofMinutes(minutes);
    return left.compareTo(most) < 0 && left.compareTo(most.minusSeconds(20)) > 0;
  }

  @Test
  void aLeaseThatIsGivenEndsByItself() throws Exception {
    try (QuorumClients here = nodes.party(LockOptions.defaults(), BUDGET).warm();
        QuorumClients there = nodes.party(LockOptions.defaults(), BUDGET).warm()) {
      Lease lease =
          here.lock(name).acquire(QuorumClients.LIVENESS, Duration.ofMillis(800)).orElseThrow();
      List<LeaseLoss> losses = new ArrayList<>();
      lease.onLost(losses::add);
      Lease next = there.take(name);
      assertEquals(State.LOST, lease.state(), "this side stops before the next begins");
      assertEquals(LeaseLoss.Reason.EXPIRED, lease.loss().orElseThrow().reason());
      assertTrue(next.fencingToken() > lease.fencingToken());
      Eventually.until("it is told", () -> losses.size() == 1);
      next.close();
      nodes.awaitHolding(name, 0);
      here.awaitIdle();
    }
  }

  /** The token has to stand on a majority before anybody is given the lock. */
  @ParameterizedTest
  @CsvSource({"SILENT", "CLOSE"})
  void aTokenThatCannotBeWrittenBackIsNoHold(LossStyle style) throws Exception {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(300)).build();
    try (QuorumClients here = nodes.party(options, Duration.ofMillis(400)).warm()) {
      here.pass(name);
      String raise = new String(Script.load("lock/raise").sha1(), StandardCharsets.US_ASCII);
      for (int place = 0; place < 3; place++) {
        long ahead = nodes.token(name, place) + 1_000_000_000L * (place + 1);
        nodes.server(place).command("SET", FaultyNodes.tokenKey(name), Long.toString(ahead));
        nodes.proxy(place).loseReplies(100, style, FaultProxy.containing(raise));
      }
      LockException thrown = assertThrows(LockException.class, () -> here.lock(name).tryLock());
      assertTrue(thrown.getMessage().contains("could not be written back"), thrown::getMessage);
      nodes.awaitHolding(name, 0);
      nodes.restore();
      long token = here.take(name).fencingToken();
      assertTrue(token > 1_000_000_000L * 2);
    }
  }
}
