package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that is closed is a node that is gone; when too many are, the hold is. */
@Timeout(60)
class QuorumCloseTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(6))
          .commandTimeout(Duration.ofSeconds(1))
          .subscriptionLinger(Duration.ZERO)
          .build();

  private static final Duration BUDGET = Duration.ofMillis(400);

  private static FaultyNodes nodes;

  private final String name = Names.fresh();
  private QuorumClients here;
  private QuorumClients there;

  @BeforeAll
  static void startNodes() {
    nodes = FaultyNodes.start(5);
  }

  @AfterAll
  static void stopNodes() {
    nodes.close();
  }

  @BeforeEach
  void connect() throws Exception {
    here = nodes.direct(OPTIONS, BUDGET).warm();
    there = nodes.party(OPTIONS, BUDGET).warm();
  }

  @AfterEach
  void close() {
    nodes.restore();
    here.close();
    there.close();
  }

  private void assertNoThreads() {
    Eventually.untilAsserted(
        "no thread is left",
        () -> {
          for (LockClient client : here.clients()) {
            assertEquals(List.of(), ClientResources.threads(client));
          }
        });
  }

  @Test
  void aHoldStandsWhileAMajorityOfTheClientsIsOpen() throws Exception {
    QuorumLease lease = here.takeEverywhere(name);
    here.clients().get(0).close();
    Eventually.until("one is gone", () -> lease.validNodes() == 4);
    here.clients().get(3).close();
    Eventually.until("two are gone", () -> lease.validNodes() == 3);
    assertEquals(State.HELD, lease.state());
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    // Renewed, and nothing runs wild, for as long as the lease.
    Eventually.holdsFor(OPTIONS.lease(), "it is held", lease::isValid);
    lease.close();
    nodes.awaitHolding(name, 0);
    here.pass(name); // three of five are open
    there.pass(name);
  }

  @Test
  void aHoldIsLostWithTheMajorityOfTheClients() throws Exception {
    QuorumLease lease = here.takeEverywhere(name);
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    for (int i = 0; i < 3; i++) {
      here.clients().get(i).close();
    }
    Eventually.until("it is told", () -> losses.size() == 1);
    assertEquals(Reason.CLIENT_CLOSED, losses.get(0).reason());
    nodes.awaitHolding(name, 0);
    LockException thrown = assertThrows(LockException.class, () -> here.lock(name).tryLock());
    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    there.pass(name);
  }

  @Test
  void nothingIsLeftWhenAllClientsAreClosed() throws Exception {
    QuorumLease lease = here.takeEverywhere(name);
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    QuorumLease theirs = there.takeEverywhere(name + "2");
    AsyncCall<QuorumLease> waiter = AsyncCall.start(() -> here.take(name + "2"));
    Eventually.until("it waits", () -> nodes.subscribers(name + "2") > 0);
    here.close();
    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(State.LOST, lease.state());
    Eventually.until("it is told", () -> !losses.isEmpty());
    assertEquals(1, losses.size());
    assertEquals(Reason.CLIENT_CLOSED, losses.get(0).reason());
    nodes.awaitHolding(name, 0);
    assertNoThreads();
    theirs.close();
    nodes.awaitHolding(name + "2", 0);
  }

  @Test
  void closingBesideANodeThatHangsTakesOneTimeOut() throws Exception {
    QuorumLease lease = here.takeEverywhere(name);
    nodes.begin(NodeFault.PAUSED, List.of(2));
    long start = System.nanoTime();
    here.close();
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < 4_000, () -> "it took " + millis + " ms");
    assertEquals(State.LOST, lease.state());
    nodes.end(NodeFault.PAUSED, List.of(2));
    nodes.awaitHolding(name, 0);
    assertNoThreads();
  }

  @Test
  void roundsOfEverythingLeaveNothing() throws Exception {
    for (NodeFault fault : NodeFault.values()) {
      QuorumLease lease = here.take(name);
      assertTrue(there.lock(name).tryAcquire().isEmpty());
      AsyncCall<QuorumLease> waiter = AsyncCall.start(() -> there.take(name));
      AsyncCall<QuorumLease> interrupted = AsyncCall.start(() -> there.take(name));
      Eventually.until("they wait", () -> nodes.subscribers(name) > 0);
      nodes.begin(fault, List.of(1, 3));
      interrupted.interrupt();
      lease.close();
      waiter.get().close();
      assertThrows(InterruptedException.class, interrupted::get);
      here.lock(name).tryAcquire(Duration.ofMillis(200));
      nodes.end(fault, List.of(1, 3));
      nodes.awaitHolding(name, 0);
    }
    here.awaitIdle();
    there.awaitIdle();
  }
}
