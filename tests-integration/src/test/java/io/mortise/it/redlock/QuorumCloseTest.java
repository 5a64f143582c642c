package io.mortise.it.redlock;

import static io.mortise.it.support.ServerFault.PAUSED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
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
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.QuorumLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A closed client is a missing node; without a majority of the clients the hold is lost. */
@Timeout(60)
class QuorumCloseTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(5);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(6))
          .commandTimeout(Duration.ofSeconds(1))
          .tuning(t -> t.subscriptionLinger(Duration.ZERO))
          .build();

  private static final Duration BUDGET = Duration.ofSeconds(2);

  private final String name = Names.fresh();
  private final QuorumClients here = nodes.direct(OPTIONS, BUDGET);
  private final QuorumClients there = nodes.proxied(OPTIONS, BUDGET);

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
  void aHoldRemainsWhileAMajorityOfTheClientsIsOpen() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    here.client(0).close();
    Eventually.until("one is gone", () -> lease.validNodes() == 4);
    here.client(3).close();
    Eventually.until("two are gone", () -> lease.validNodes() == 3);
    assertEquals(State.HELD, lease.state());
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    // Renewed for as long as the lease.
    Eventually.holdsFor(OPTIONS.lease(), "it is held", lease::isValid);
    lease.close();
    nodes.awaitHolding(name, 0);
    here.cycle(name); // three of five are open
    there.cycle(name);
  }

  @Test
  void aHoldIsLostWithTheMajorityOfTheClients() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    for (int i = 0; i < 3; i++) {
      here.client(i).close();
    }
    Eventually.until("the loss is notified", () -> losses.size() == 1);
    assertEquals(Reason.CLIENT_CLOSED, losses.get(0).reason());
    nodes.awaitHolding(name, 0);
    LockException thrown = assertThrows(LockException.class, () -> here.lock(name).tryLock());
    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    there.cycle(name);
  }

  @Test
  void nothingIsLeftWhenAllClientsAreClosed() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    QuorumLease theirs = there.acquireEverywhere(name + "2");
    AsyncCall<QuorumLease> waiter = AsyncCall.start(() -> here.acquire(name + "2"));
    Eventually.until("a thread waits", () -> nodes.subscribers(name + "2") > 0);
    here.close();
    LockException thrown = assertThrows(LockException.class, waiter::get);
    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals(State.LOST, lease.state());
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    assertEquals(1, losses.size());
    assertEquals(Reason.CLIENT_CLOSED, losses.get(0).reason());
    nodes.awaitHolding(name, 0);
    assertNoThreads();
    theirs.close();
    nodes.awaitHolding(name + "2", 0);
  }

  @Test
  void closingBesideANodeThatHangsTakesOneTimeOut() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    nodes.begin(PAUSED, 2);
    assertTimeout(Duration.ofSeconds(4), here::close);
    assertEquals(State.LOST, lease.state());
    nodes.restore(2);
    nodes.awaitHolding(name, 0);
    assertNoThreads();
  }

  @Test
  void roundsOfAllFaultsLeaveNothing() throws Exception {
    for (ServerFault fault : ServerFault.values()) {
      QuorumLease lease = here.acquireEverywhere(name); // two nodes may lose it, and it stays held
      assertTrue(there.lock(name).tryAcquire().isEmpty());
      AsyncCall<QuorumLease> waiter = AsyncCall.start(() -> there.acquire(name));
      AsyncCall<QuorumLease> interrupted = AsyncCall.start(() -> there.acquire(name));
      Eventually.until("two threads wait", () -> nodes.subscribers(name) > 0);
      nodes.begin(fault, 1, 3);
      interrupted.interrupt();
      lease.close();
      waiter.get().close();
      assertThrows(InterruptedException.class, interrupted::get);
      here.lock(name).withLease(Duration.ofSeconds(2)).tryAcquire();
      nodes.restore(1, 3);
      nodes.awaitHolding(name, 0);
    }
    here.awaitIdle();
    there.awaitIdle();
  }
}
