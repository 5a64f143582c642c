package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.SILENCED;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A grant that arrives too late is released, or becomes part of the hold. */
@Timeout(60)
class LateRepliesTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  /** So long that in these tests no hold expires and no command times out. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(2))
          .commandTimeout(Duration.ofMinutes(1))
          .build();

  private static final int LATE = 2;

  private final String name = Names.fresh();
  private QuorumClients here = connect(LIVENESS);

  private static QuorumClients connect(Duration budget) {
    QuorumClients clients = nodes.proxied(OPTIONS, budget);
    nodes.proxy(LATE).delay(Direction.TO_CLIENT, Duration.ofHours(1));
    return clients;
  }

  private void deliverReply() {
    nodes.proxy(LATE).restore();
  }

  private static void awaitState(QuorumLease lease, int holding) {
    Eventually.until(lease + " has " + holding, () -> lease.validNodes() == holding);
    assertEquals(State.HELD, lease.state());
  }

  @Test
  void aReplyAfterTheRoundWasLostIsReleased() throws Exception {
    List<Integer> refusing = List.of(0, 1);
    refusing.forEach(node -> nodes.holdAsStranger(name, node));
    // Without this the round may be lost before the third node is asked.
    refusing.forEach(node -> nodes.proxy(node).delay(Direction.TO_CLIENT, Duration.ofHours(1)));
    AsyncCall<Boolean> caller = AsyncCall.start(() -> here.lock(name).tryLock());
    nodes.awaitHolding(name, 3); // granted, but no reply has arrived
    refusing.forEach(node -> nodes.proxy(node).restore());
    assertFalse(caller.get());
    nodes.awaitHolding(name, 3);
    deliverReply();
    nodes.awaitHolding(name, 2);
  }

  @Test
  void aReplyAfterTheBudgetIsReleased() throws Exception {
    nodes.holdAsStranger(name, 0);
    QuorumClients brief = new QuorumClients(here.clients(), Duration.ofSeconds(2));
    assertFalse(brief.lock(name).tryLock(), "one node is held by another, and one does not reply");
    Eventually.until("the second is released", () -> !nodes.holding(name).contains(1));
    nodes.awaitHolding(name, 2);
    deliverReply();
    nodes.awaitHolding(name, 1);
  }

  @Test
  void aReplyAfterAnInterruptIsReleased() throws Exception {
    nodes.holdAsStranger(name, 0);
    AsyncCall<QuorumLease> caller = AsyncCall.start(() -> here.acquire(name));
    Eventually.until("all nodes have granted", () -> held().size() == 3);
    caller.interrupt();
    assertThrows(InterruptedException.class, caller::get);
    deliverReply();
    nodes.awaitHolding(name, 1);
  }

  @Test
  void aReplyAfterTheRoundWasWonJoinsTheHold() throws Exception {
    QuorumLease lease = here.acquire(name);
    assertEquals(2, lease.validNodes());
    assertEquals(3, lease.nodes());
    long token = lease.fencingToken();
    nodes.awaitHolding(name, 3);
    assertEquals(2, lease.validNodes());
    deliverReply();
    awaitState(lease, 3);
    assertEquals(token, lease.fencingToken());
    lease.close();
  }

  @Test
  void aReplyAfterTheReleaseIsReleased() throws Exception {
    QuorumLease lease = here.acquire(name);
    nodes.awaitHolding(name, 3);
    lease.close();
    Eventually.untilAsserted("the others are released", () -> assertEquals(List.of(LATE), held()));
    deliverReply();
  }

  private List<Integer> held() {
    return nodes.holding(name).stream().sorted().toList();
  }

  @Test
  void aReplyAfterTheHoldWasLostIsReleased() throws Exception {
    Duration brief = Duration.ofMillis(700);
    QuorumLease lease = (QuorumLease) here.lock(name).acquire(LIVENESS, brief).orElseThrow();
    Eventually.until("the hold is lost", () -> lease.state() == State.LOST);
    deliverReply();
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  @Test
  void aReplyThatNeverArrivesIsSettledByTheClient() throws Exception {
    here.close();
    nodes.restore();
    LockOptions shortTimeout =
        LockOptions.builder()
            .lease(Duration.ofMinutes(2))
            .commandTimeout(Duration.ofMillis(1500))
            .build();
    here = nodes.proxied(shortTimeout, Duration.ofSeconds(3));
    nodes.begin(SILENCED, LATE);
    QuorumLease lease = here.acquire(name);
    nodes.awaitHolding(name, 3);
    assertEquals(2, lease.validNodes());
    Eventually.until("it is released there", () -> !nodes.holding(name).contains(LATE));
    nodes.restore(LATE);
    awaitState(lease, 3);
    lease.close();
  }
}
