package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Questions and force: answered by a majority, or by nobody. */
@Timeout(60)
class QuorumQueriesTest {
  private static final Duration LEASE = Duration.ofMinutes(2);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(LEASE).commandTimeout(Duration.ofMillis(500)).build();

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

  private static QuorumClients party(NodeFault fault) throws Exception {
    Duration budget = Duration.ofMillis(300);
    return (fault.isOfTheNetwork() ? nodes.party(OPTIONS, budget) : nodes.direct(OPTIONS, budget))
        .warm();
  }

  @ParameterizedTest
  @EnumSource(
      value = NodeFault.class,
      names = {"KILLED", "PAUSED", "CUT_OFF", "BREAKING"})
  void aMinorityThatFailsDoesNotMatter(NodeFault fault) throws Exception {
    for (int place = 0; place < 3; place++) {
      String lock = Names.fresh();
      try (QuorumClients here = party(fault);
          QuorumClients there = party(fault)) {
        RedLock asked = there.lock(lock);
        QuorumLease lease = here.takeEverywhere(lock);
        nodes.begin(fault, List.of(place));
        assertTrue(asked.isLocked());
        Duration left = asked.remainingLease().orElseThrow();
        assertTrue(left.compareTo(LEASE) <= 0 && left.compareTo(LEASE.dividedBy(2)) > 0);
        assertTrue(here.lock(lock).forceUnlock()); // which looks after its own client's holds
        assertFalse(asked.isLocked());
        assertFalse(asked.remainingLease().isPresent());
        assertFalse(asked.forceUnlock());
        Eventually.until("the loss is told", () -> lease.state() == State.LOST);
        assertTrue(lease.loss().orElseThrow().reason() == Reason.FORCED);
        there.pass(lock);
        nodes.end(fault, List.of(place));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = NodeFault.class,
      names = {"KILLED", "PAUSED", "CUT_OFF", "REFUSING", "BREAKING", "SILENCED"})
  void withoutAMajorityThereIsNoAnswer(NodeFault fault) throws Exception {
    try (QuorumClients here = party(fault)) {
      RedLock lock = here.lock(name);
      nodes.begin(fault, List.of(0, 2));
      for (Callable<?> question :
          List.<Callable<?>>of(lock::isLocked, lock::remainingLease, lock::forceUnlock)) {
        LockException thrown = assertThrows(LockException.class, question::call);
        assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
        assertTrue(thrown.getMessage().contains("too few nodes answered"), thrown::getMessage);
        for (int place : List.of(0, 2)) {
          int port =
              fault.isOfTheNetwork() ? nodes.proxy(place).port() : nodes.server(place).port();
          assertTrue(thrown.getMessage().contains("127.0.0.1:" + port), thrown::getMessage);
        }
      }
      nodes.end(fault, List.of(0, 2));
      Eventually.until("all is well again", () -> isFree(lock));
    }
  }

  private static boolean isFree(RedLock lock) {
    try {
      return !lock.isLocked();
    } catch (LockException notYet) {
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = NodeFault.class,
      names = {"PAUSED", "CUT_OFF"})
  void twoThatHoldItOnAMinorityDoNotMakeAMajorityThatDoesNot(NodeFault fault) throws Exception {
    try (QuorumClients here = party(fault)) {
      RedLock lock = here.lock(name);
      nodes.holdAsStranger(name, 0);
      assertFalse(lock.isLocked(), "one of three is no majority");
      nodes.begin(fault, List.of(1));
      assertThrows(LockException.class, lock::isLocked);
      nodes.end(fault, List.of(1));
      nodes.server(0).command("DEL", name);
    }
  }
}
