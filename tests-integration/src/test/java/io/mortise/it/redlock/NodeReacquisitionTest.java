package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ProxiedServers.tokenKey;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static io.mortise.it.support.ServerFault.PAUSED;
import static io.mortise.it.support.ServerFault.RESTARTED_EMPTY;
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
import io.mortise.it.support.ServerFault;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A hold keeps its nodes while a majority remains, and its loss is notified. */
@Timeout(60)
class NodeReacquisitionTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final Duration BUDGET = Duration.ofSeconds(1);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(LEASE)
          .commandTimeout(Duration.ofSeconds(1))
          .tuning(t -> t.subscriptionLinger(Duration.ZERO))
          .build();

  private final String name = Names.fresh();
  private final List<State> changes = new CopyOnWriteArrayList<>();
  private final List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
  private QuorumClients here = nodes.proxied(OPTIONS, BUDGET);

  /** Loses no node and misses none: it is in no hurry, also when the machine stands still. */
  private final QuorumClients there =
      nodes.direct(
          OPTIONS.toBuilder().commandTimeout(Duration.ofSeconds(3)).build(), Duration.ofSeconds(5));

  private QuorumLease watched(QuorumLease lease) {
    lease.onStateChange(changes::add);
    lease.onLost(losses::add);
    return lease;
  }

  /** All nodes come to hold it, in Redis too, and its state has never changed. */
  private void assertComplete(QuorumLease lease, long token) {
    Eventually.until("all nodes have it", () -> lease.validNodes() == 3 && isOursEverywhere());
    assertEquals(State.HELD, lease.state());
    assertEquals(token, lease.fencingToken());
    assertEquals(List.of(), changes);
    for (int node = 0; node < 3; node++) {
      assertTrue(nodes.token(name, node) >= token, "each node knows the token");
    }
  }

  private boolean isOursEverywhere() {
    return IntStream.range(0, 3)
        .allMatch(i -> nodes.holders(name, i).startsWith("[" + here.client(i).id() + ":"));
  }

  private void assertEndsInOrder(QuorumLease lease) throws Exception {
    lease.close();
    Eventually.untilAsserted("notified", () -> assertEquals(List.of(State.RELEASED), changes));
    nodes.awaitHolding(name, 0);
    assertEquals(List.of(), losses);
    here.awaitIdle();
  }

  /** The node comes back by itself: how long it is missed is not in the hand of the test. */
  private void assertReacquired(Runnable forgets) throws Exception {
    QuorumLease lease = watched(here.acquireEverywhere(name));
    long token = lease.fencingToken();
    forgets.run();
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    assertComplete(lease, token);
    assertEndsInOrder(lease);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aNodeThatRestartsEmptyIsReacquired(int node) throws Exception {
    assertReacquired(() -> nodes.begin(RESTARTED_EMPTY, node));
  }

  /** Found by random faults: one node forgets the hold, and another one never granted it. */
  @Test
  void aNodeThatAnotherHolderHadMeanwhileDoesNotRestoreALostMajority() throws Exception {
    // So long that no renewal notices it.
    LockOptions longLease = LockOptions.builder().lease(Duration.ofMinutes(1)).build();
    QuorumClients holder = nodes.proxied(longLease, BUDGET);
    nodes.begin(CUT_OFF, 2);
    QuorumLease lease = watched(holder.acquire(name));
    assertEquals(2, lease.validNodes());
    nodes.server(1).command("DEL", name);
    QuorumLease other = there.acquire(name);
    assertTrue(other.fencingToken() > lease.fencingToken());
    other.close();
    nodes.restore(2);
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    assertEquals(Reason.MISSING, losses.get(0).reason());
    assertThrows(LeaseLostException.class, lease::close);
  }

  @Test
  void aNodeOnWhichTheKeyIsDeletedIsReacquired() throws Exception {
    assertReacquired(() -> nodes.server(1).command("DEL", name, tokenKey(name)));
  }

  @ParameterizedTest
  @CsvSource({"0,CUT_OFF", "1,REFUSING", "2,SILENCED"})
  void aNodeThatWasOutOfReachForLongerThanTheLeaseIsReacquired(int node, ServerFault fault)
      throws Exception {
    QuorumLease lease = watched(here.acquireEverywhere(name));
    long token = lease.fencingToken();
    nodes.begin(fault, node);
    Eventually.until("it is missed", () -> lease.validNodes() == 2);
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    nodes.restore(node);
    assertComplete(lease, token);
    assertEndsInOrder(lease);
  }

  @ParameterizedTest
  @CsvSource({"0,KILLED", "1,CUT_OFF", "2,REFUSING"})
  void aNodeThatWasAwayAtTheAcquisitionIsAcquiredWhenItReturns(int node, ServerFault fault)
      throws Exception {
    nodes.begin(fault, node);
    QuorumLease lease = watched(here.acquire(name));
    long token = lease.fencingToken();
    assertEquals(2, lease.validNodes());
    nodes.restore(node);
    assertComplete(lease, token);
    assertEndsInOrder(lease);
  }

  @Test
  void aNodeThatGrantsLateDuringItsReacquisitionIsReacquiredLater() throws Exception {
    // The acquisition without a reply outlasts each attempt to reacquire the node.
    here = nodes.proxied(OPTIONS.toBuilder().commandTimeout(LIVENESS).build(), BUDGET);
    nodes.begin(PAUSED, 2);
    QuorumLease lease = watched(here.acquire(name));
    long token = lease.fencingToken();
    Eventually.until("it is being reacquired", NodeReacquisitionTest::isBeingReacquired);
    nodes.restore(2);
    Eventually.until("it has granted late", () -> lease.validNodes() == 3);
    // Until the attempt has ended, and any later one that it has scheduled.
    Eventually.holdsFor(BUDGET.multipliedBy(4), "held", () -> lease.validNodes() == 3);

    nodes.begin(RESTARTED_EMPTY, 2);
    assertComplete(lease, token);
    nodes.begin(RESTARTED_EMPTY, 0);
    assertComplete(lease, token);
    assertEndsInOrder(lease);
  }

  /** Whether a thread is in the local queue behind the acquisition that has no reply. */
  private static boolean isBeingReacquired() {
    return Thread.getAllStackTraces().values().stream()
        .anyMatch(
            stack ->
                StackTraces.contain(stack, RedLockTypes.REACQUISITION)
                    && StackTraces.contain(stack, EngineTypes.QUEUE));
  }

  @Test
  void aNodeIsReacquiredAlthoughManyWaitForIt() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      QuorumLease lease = watched(here.acquireEverywhere(name));
      long token = lease.fencingToken();
      List<Future<?>> waiters = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        waiters.add(
            threads.ask(
                () -> {
                  there.cycle(name);
                  return true;
                }));
      }
      Eventually.until("a thread waits", () -> nodes.subscribers(name) >= 1);
      nodes.begin(RESTARTED_EMPTY, 0);
      assertComplete(lease, token);
      assertTrue(waiters.stream().noneMatch(Future::isDone), "no waiter acquires it in between");
      lease.close();
      threads.join(LIVENESS);
    }
    nodes.awaitHolding(name, 0);
    assertEquals(List.of(), losses);
  }

  @Test
  void restartsOfAllNodesOneAfterTheOtherDoNotLoseTheHold() throws Exception {
    try (TestThreads threads = new TestThreads()) {
      QuorumLease lease = watched(here.acquireEverywhere(name));
      long token = lease.fencingToken();
      Future<QuorumLease> waiter = threads.ask(() -> there.acquire(name));
      for (int node = 0; node < 3; node++) {
        nodes.begin(RESTARTED_EMPTY, node);
        assertComplete(lease, token);
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
  void aMajorityThatLosesItsDataIsNotifiedWithinTheRenewalInterval() throws Exception {
    QuorumLease lease = watched(here.acquireEverywhere(name));
    nodes.server(0).command("FLUSHALL");
    nodes.server(2).command("FLUSHALL");
    long start = System.nanoTime();
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < LEASE.toMillis(), () -> "notified after " + millis + " ms");
    assertLost(lease, Reason.MISSING);
  }

  @ParameterizedTest
  @CsvSource({"CUT_OFF", "REFUSING", "SILENCED"})
  void aMajorityOutOfReachIsNotifiedAtTheEndOfTheLease(ServerFault fault) throws Exception {
    QuorumLease lease = watched(here.acquireEverywhere(name));
    nodes.begin(fault, 1, 2);
    long start = System.nanoTime();
    Eventually.until("it is at risk", () -> lease.state() == State.AT_RISK);
    assertTrue(lease.isValid());
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < LEASE.toMillis() + 1_000, () -> "notified after " + millis + " ms");
    nodes.restore(1, 2);
    assertLost(lease, Reason.EXPIRED);
    assertEquals(State.AT_RISK, changes.get(0));
  }

  @Test
  void aMajorityThatComesBackInTimeIsNoLoss() throws Exception {
    // Long enough for a busy machine between the first failure and the end.
    here = nodes.proxied(OPTIONS.toBuilder().lease(Duration.ofSeconds(6)).build(), BUDGET);
    QuorumLease lease = watched(here.acquireEverywhere(name));
    nodes.begin(PAUSED, 1, 2);
    Eventually.until("it is at risk", () -> lease.state() == State.AT_RISK);
    nodes.restore(1, 2);
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
    there.cycle(name);
    here.cycle(name);
    here.awaitIdle();
    assertEquals(1, losses.size(), losses::toString);
    assertEquals(reason, losses.get(0).reason(), losses::toString);
    assertEquals(lease.fencingToken(), losses.get(0).fencingToken());
    assertTrue(losses.get(0).detail().contains("of 3 members 2 must stand"), losses::toString);
    assertEquals(1, changes.stream().filter(State.LOST::equals).count(), changes::toString);
    assertEquals(reason, assertThrows(LeaseLostException.class, lease::close).loss().reason());
  }
}
