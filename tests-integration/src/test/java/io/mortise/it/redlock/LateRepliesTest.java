package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease.State;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pitfall 27: what a node grants too late is given back, or becomes part of the hold. */
@Timeout(60)
class LateRepliesTest {
  /** What goes away in these tests did not expire, and nobody gave up waiting for an answer. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(2))
          .commandTimeout(Duration.ofMinutes(1))
          .build();

  private static final int LATE = 2;

  private static FaultyNodes nodes;

  private final String name = Names.fresh();
  private QuorumClients here;

  @BeforeAll
  static void startNodes() {
    nodes = FaultyNodes.start(3);
  }

  @AfterAll
  static void stopNodes() {
    nodes.close();
  }

  @BeforeEach
  void connect() throws Exception {
    connect(Duration.ofMillis(500));
  }

  private void connect(Duration budget) throws Exception {
    here = nodes.party(OPTIONS, budget).warm();
    nodes.proxy(LATE).delay(Direction.TO_CLIENT, Duration.ofHours(1));
  }

  @AfterEach
  void restore() {
    nodes.restore();
    here.close();
  }

  private void answerAtLast() {
    nodes.proxy(LATE).restore();
  }

  private static void awaitState(QuorumLease lease, int holding) {
    Eventually.until(lease + " has " + holding, () -> lease.validNodes() == holding);
    assertEquals(State.HELD, lease.state());
  }

  @Test
  void anAnswerAfterTheVoteWasLostIsGivenBack() throws Exception {
    here.close();
    nodes.restore();
    connect(QuorumClients.LIVENESS);
    List<Integer> refusing = List.of(0, 1);
    refusing.forEach(place -> nodes.holdAsStranger(name, place));
    // Without this the vote may be lost before the third has been asked at all.
    refusing.forEach(place -> nodes.proxy(place).delay(Direction.TO_CLIENT, Duration.ofHours(1)));
    AsyncCall<Boolean> caller = AsyncCall.start(() -> here.lock(name).tryLock());
    nodes.awaitHolding(name, 3); // granted, and nobody knows
    refusing.forEach(place -> nodes.proxy(place).restore());
    assertFalse(caller.get());
    nodes.awaitHolding(name, 3);
    answerAtLast();
    nodes.awaitHolding(name, 2);
  }

  @Test
  void anAnswerAfterTheBudgetIsGivenBack() throws Exception {
    nodes.holdAsStranger(name, 0);
    assertFalse(here.lock(name).tryLock(), "somebody else is in the way, and the third silent");
    Eventually.until("the second is given back", () -> !nodes.holding(name).contains(1));
    nodes.awaitHolding(name, 2);
    answerAtLast();
    nodes.awaitHolding(name, 1);
  }

  @Test
  void anAnswerAfterAnInterruptIsGivenBack() throws Exception {
    nodes.holdAsStranger(name, 0);
    AsyncCall<QuorumLease> caller = AsyncCall.start(() -> here.take(name));
    Eventually.until("they have granted", () -> held().size() == 3);
    caller.interrupt();
    assertThrows(InterruptedException.class, caller::get);
    answerAtLast();
    nodes.awaitHolding(name, 1);
  }

  @Test
  void anAnswerAfterTheVoteWasWonJoins() throws Exception {
    QuorumLease lease = here.take(name);
    assertEquals(2, lease.validNodes());
    assertEquals(3, lease.nodes());
    long token = lease.fencingToken();
    nodes.awaitHolding(name, 3);
    assertEquals(2, lease.validNodes());
    answerAtLast();
    awaitState(lease, 3);
    assertEquals(token, lease.fencingToken());
    lease.close();
    nodes.awaitHolding(name, 0);
  }

  @Test
  void anAnswerAfterTheReleaseIsGivenBack() throws Exception {
    QuorumLease lease = here.take(name);
    nodes.awaitHolding(name, 3);
    lease.close();
    Eventually.untilAsserted("the others", () -> assertEquals(List.of(LATE), held()));
    answerAtLast();
    nodes.awaitHolding(name, 0);
  }

  private List<Integer> held() {
    return nodes.holding(name).stream().sorted().toList();
  }

  @Test
  void anAnswerAfterTheHoldWasLostIsGivenBack() throws Exception {
    Duration brief = Duration.ofMillis(700);
    QuorumLease lease =
        (QuorumLease) here.lock(name).acquire(QuorumClients.LIVENESS, brief).orElseThrow();
    Eventually.until("it is over", () -> lease.state() == State.LOST);
    answerAtLast();
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  @Test
  void anAnswerThatNeverComesIsSettledByTheClient() throws Exception {
    here.close();
    nodes.restore();
    LockOptions impatient =
        LockOptions.builder()
            .lease(Duration.ofMinutes(2))
            .commandTimeout(Duration.ofMillis(300))
            .build();
    here = nodes.party(impatient, Duration.ofMillis(500)).warm();
    nodes.begin(NodeFault.SILENCED, List.of(LATE));
    QuorumLease lease = here.take(name);
    nodes.awaitHolding(name, 3);
    assertEquals(2, lease.validNodes());
    Eventually.until("it is given back there", () -> !nodes.holding(name).contains(LATE));
    nodes.end(NodeFault.SILENCED, List.of(LATE));
    awaitState(lease, 3);
    lease.close();
    nodes.awaitHolding(name, 0);
  }
}
