package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.StackTraces;
import io.mortise.it.support.TestThreads;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLockTypes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pitfall 30: a hold does not wear down while a majority stands, and its end is told. */
@Timeout(60)
class NodeReacquisitionTest {
  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final Duration BUDGET = Duration.ofMillis(300);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(LEASE)
          .commandTimeout(Duration.ofMillis(500))
          .subscriptionLinger(Duration.ZERO)
          .build();

  private final String name = Names.fresh();
  private final List<State> changes = new CopyOnWriteArrayList<>();
  private final List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
  private FaultyNodes nodes;
  private QuorumClients here;
  private QuorumClients there;

  @BeforeEach
  void start() throws Exception {
    nodes = FaultyNodes.start(3);
    here = nodes.party(OPTIONS, BUDGET).warm();
    there = nodes.direct(OPTIONS, BUDGET).warm();
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
    nodes.close();
  }

  private QuorumLease watched(QuorumLease lease) {
    lease.onStateChange(changes::add);
    lease.onLost(losses::add);
    return lease;
  }

  /** The hold comes to stand everywhere, in Redis too, and nothing was ever wrong with it. */
  private void assertWhole(QuorumLease lease, long token) {
    Eventually.until("all nodes have it", () -> lease.validNodes() == 3 && isOursEverywhere());
    assertEquals(State.HELD, lease.state());
    assertEquals(token, lease.fencingToken());
    assertEquals(List.of(), changes);
    for (int place = 0; place < 3; place++) {
      assertTrue(nodes.token(name, place) >= token, "each node knows the token");
    }
  }

  private boolean isOursEverywhere() {
    return IntStream.range(0, 3)
        .allMatch(i -> nodes.holders(name, i).startsWith("[" + here.clients().get(i).id() + ":"));
  }

  private void assertEndsInOrder(QuorumLease lease) throws Exception {
    lease.close();
    Eventually.untilAsserted("told", () -> assertEquals(List.of(State.RELEASED), changes));
    nodes.awaitHolding(name, 0);
    assertEquals(List.of(), losses);
    here.awaitIdle();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aNodeThatRestartsEmptyIsTakenAgain(int place) throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    long token = lease.fencingToken();
    nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(place));
    Eventually.until("it is missed", () -> lease.validNodes() == 2);
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    assertWhole(lease, token);
    assertEndsInOrder(lease);
  }

  /** Found by faults at random: one node forgets, and another one of us was never in hand. */
  @Test
  void aNodeThatSomebodyElseHadInBetweenDoesNotMakeALapsedMajorityWhole() throws Exception {
    // So long that no renewal notices what happens.
    LockOptions slow = LockOptions.builder().lease(Duration.ofMinutes(1)).build();
    try (QuorumClients sleepy = nodes.party(slow, BUDGET).warm()) {
      nodes.begin(NodeFault.CUT_OFF, List.of(2));
      QuorumLease lease = watched(sleepy.take(name));
      assertEquals(2, lease.validNodes());
      nodes.server(1).command("DEL", name);
      QuorumLease other = there.take(name);
      assertTrue(other.fencingToken() > lease.fencingToken());
      other.close();
      nodes.end(NodeFault.CUT_OFF, List.of(2));
      Eventually.until("it is told", () -> !losses.isEmpty());
      assertEquals(Reason.MISSING, losses.get(0).reason());
      assertThrows(LeaseLostException.class, lease::close);
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void aNodeOnWhichTheKeyIsDeletedIsTakenAgain() throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    long token = lease.fencingToken();
    nodes.server(1).command("DEL", name, FaultyNodes.tokenKey(name));
    Eventually.until("it is missed", () -> lease.validNodes() == 2);
    assertWhole(lease, token);
    assertEndsInOrder(lease);
  }

  @ParameterizedTest
  @CsvSource({"0,CUT_OFF", "1,REFUSING", "2,SILENCED"})
  void aNodeThatWasOutOfReachForLongerThanTheLeaseIsTakenAgain(int place, NodeFault fault)
      throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    long token = lease.fencingToken();
    nodes.begin(fault, List.of(place));
    Eventually.until("it is missed", () -> lease.validNodes() == 2);
    nodes.end(fault, List.of(place));
    assertWhole(lease, token);
    assertEndsInOrder(lease);
  }

  @ParameterizedTest
  @CsvSource({"0,KILLED", "1,CUT_OFF", "2,REFUSING"})
  void aNodeThatWasAwayAtTheAcquisitionIsTakenWhenItComes(int place, NodeFault fault)
      throws Exception {
    nodes.begin(fault, List.of(place));
    QuorumLease lease = watched(here.take(name));
    long token = lease.fencingToken();
    assertEquals(2, lease.validNodes());
    nodes.end(fault, List.of(place));
    assertWhole(lease, token);
    assertEndsInOrder(lease);
  }

  @Test
  void aNodeThatGrantsLateWhileItIsBeingTakenIsTakenAgainLater() throws Exception {
    nodes.begin(NodeFault.PAUSED, List.of(2));
    QuorumLease lease = watched(here.take(name));
    long token = lease.fencingToken();
    Eventually.until("it is being taken", NodeReacquisitionTest::isBeingTaken);
    nodes.end(NodeFault.PAUSED, List.of(2));
    Eventually.until("it has granted late", () -> lease.validNodes() == 3);
    // For so long that the attempt has ended, and one that it may have left behind too.
    Eventually.holdsFor(BUDGET.multipliedBy(4), "held", () -> lease.validNodes() == 3);

    nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(2));
    Eventually.until("it is missed", () -> lease.validNodes() == 2);
    assertWhole(lease, token);
    nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(0));
    Eventually.until("another is missed", () -> lease.validNodes() == 2);
    assertWhole(lease, token);
    assertEndsInOrder(lease);
  }

  /** Whether a thread stands in the line behind the acquisition that has no answer. */
  private static boolean isBeingTaken() {
    return Thread.getAllStackTraces().values().stream()
        .anyMatch(
            stack ->
                StackTraces.contain(stack, RedLockTypes.RETAKING)
                    && StackTraces.contain(stack, EngineTypes.QUEUE));
  }

  @Test
  void aNodeIsTakenAgainAlthoughManyWaitForIt() throws Exception {
    try (TestThreads crew = new TestThreads()) {
      QuorumLease lease = watched(here.takeEverywhere(name));
      long token = lease.fencingToken();
      List<Future<?>> waiters = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        waiters.add(
            crew.ask(
                () -> {
                  there.pass(name);
                  return true;
                }));
      }
      Eventually.until("they wait", () -> nodes.subscribers(name) >= 1);
      nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(0));
      assertWhole(lease, token);
      assertTrue(waiters.stream().noneMatch(Future::isDone), "nobody gets in between");
      lease.close();
      crew.join(QuorumClients.LIVENESS);
    }
    nodes.awaitHolding(name, 0);
    assertEquals(List.of(), losses);
  }

  @Test
  void restartsOfAllNodesOneAfterTheOtherDoNotLoseTheHold() throws Exception {
    try (TestThreads crew = new TestThreads()) {
      QuorumLease lease = watched(here.takeEverywhere(name));
      long token = lease.fencingToken();
      Future<QuorumLease> waiter = crew.ask(() -> there.take(name));
      for (int place = 0; place < 3; place++) {
        nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(place));
        assertWhole(lease, token);
      }
      assertFalse(waiter.isDone());
      lease.close();
      assertEquals(List.of(), losses);
      QuorumLease next = waiter.get();
      assertTrue(next.fencingToken() > token);
      next.close();
    }
  }

  @Test
  void aMajorityThatLosesItsDataIsToldWithinTheIntervalOfRenewal() throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    nodes.server(0).command("FLUSHALL");
    nodes.server(2).command("FLUSHALL");
    long start = System.nanoTime();
    Eventually.until("it is told", () -> !losses.isEmpty());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < LEASE.toMillis(), () -> "told after " + millis + " ms");
    assertLost(lease, Reason.MISSING);
  }

  @ParameterizedTest
  @CsvSource({"CUT_OFF", "REFUSING", "SILENCED"})
  void aMajorityOutOfReachIsToldAtTheEndOfTheLease(NodeFault fault) throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    nodes.begin(fault, List.of(1, 2));
    long start = System.nanoTime();
    Eventually.until("it is at risk", () -> lease.state() == State.AT_RISK);
    assertTrue(lease.isValid());
    Eventually.until("it is told", () -> !losses.isEmpty());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < LEASE.toMillis() + 1_000, () -> "told after " + millis + " ms");
    nodes.end(fault, List.of(1, 2));
    assertLost(lease, Reason.EXPIRED);
    assertEquals(State.AT_RISK, changes.get(0));
  }

  @Test
  void aMajorityThatComesBackInTimeIsNoLoss() throws Exception {
    QuorumLease lease = watched(here.takeEverywhere(name));
    nodes.begin(NodeFault.PAUSED, List.of(1, 2));
    Eventually.until("it is at risk", () -> lease.state() == State.AT_RISK);
    nodes.end(NodeFault.PAUSED, List.of(1, 2));
    Eventually.until("it is held", () -> lease.state() == State.HELD);
    Eventually.until("all have it", () -> lease.validNodes() == 3);
    lease.close();
    nodes.awaitHolding(name, 0);
    assertEquals(List.of(), losses);
  }

  private void assertLost(QuorumLease lease, Reason reason) throws Exception {
    assertEquals(State.LOST, lease.state());
    assertEquals(0, lease.remaining().toMillis());
    nodes.awaitHolding(name, 0);
    there.pass(name);
    here.pass(name);
    here.awaitIdle();
    assertEquals(1, losses.size(), losses::toString);
    assertEquals(reason, losses.get(0).reason(), losses::toString);
    assertEquals(lease.fencingToken(), losses.get(0).fencingToken());
    assertTrue(losses.get(0).detail().contains("of 3 members 2 must stand"), losses::toString);
    assertEquals(1, changes.stream().filter(State.LOST::equals).count(), changes::toString);
    assertEquals(reason, assertThrows(LeaseLostException.class, lease::close).loss().reason());
  }
}
