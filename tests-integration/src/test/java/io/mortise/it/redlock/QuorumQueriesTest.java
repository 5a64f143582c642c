package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Queries and forceUnlock: answered by a majority, or not at all. */
@Timeout(60)
class QuorumQueriesTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final Duration LEASE = Duration.ofMinutes(2);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(LEASE).commandTimeout(Duration.ofSeconds(2)).build();

  /** For a fault that a node reports at once, so that nobody waits for a time-out. */
  private static final LockOptions PATIENT =
      LockOptions.builder().lease(LEASE).commandTimeout(Duration.ofSeconds(3)).build();

  private static final Duration BUDGET = Duration.ofSeconds(5);

  private static final Set<ServerFault> SILENT =
      EnumSet.of(ServerFault.PAUSED, ServerFault.CUT_OFF, ServerFault.SILENCED);

  private final String name = Names.fresh();

  private static QuorumClients connect(ServerFault fault) {
    // A longer one costs nothing with nodes that refuse, also when the machine stands still.
    return SILENT.contains(fault)
        ? nodes.exposedTo(fault, OPTIONS, Duration.ofMillis(1_500))
        : nodes.exposedTo(fault, PATIENT, BUDGET);
  }

  @ParameterizedTest
  @EnumSource(names = {"KILLED", "PAUSED", "CUT_OFF", "BREAKING"})
  void aMinorityThatFailsDoesNotMatter(ServerFault fault) throws Exception {
    for (int node = 0; node < 3; node++) {
      String lock = Names.fresh();
      QuorumClients here = connect(fault);
      QuorumClients there = connect(fault);
      RedLock asked = there.lock(lock);
      QuorumLease lease = here.acquireEverywhere(lock);
      nodes.begin(fault, node);
      assertTrue(asked.isLocked());
      Duration left = asked.remainingLease().orElseThrow();
      assertTrue(left.compareTo(LEASE) <= 0 && left.compareTo(LEASE.dividedBy(2)) > 0);
      assertTrue(here.lock(lock).forceUnlock()); // by the client that holds
      assertFalse(asked.isLocked());
      assertFalse(asked.remainingLease().isPresent());
      assertFalse(asked.forceUnlock());
      Eventually.until("the loss is notified", () -> lease.state() == State.LOST);
      assertTrue(lease.loss().orElseThrow().reason() == Reason.FORCED);
      there.cycle(lock);
      nodes.restore(node);
    }
  }

  @Test
  void anInspectionShowsTheNodesThatAnswerAndWhyAnotherDoesNot() throws Exception {
    QuorumClients here = nodes.direct(PATIENT, BUDGET);
    RedLock asked = nodes.direct(PATIENT, BUDGET).lock(name);
    QuorumLease lease = here.acquireEverywhere(name);
    nodes.begin(ServerFault.KILLED, 1);

    LockInspection found = asked.inspect();

    assertEquals(Mode.COMPOSITE, found.mode());
    assertTrue(found.isHeld());
    // The members are in an order of their own.
    assertEquals(
        List.of(Mode.EXCLUSIVE, Mode.EXCLUSIVE, Mode.UNKNOWN),
        found.members().stream().map(LockInspection::mode).sorted().toList());
    assertEquals(
        List.of(LockException.Reason.UNREACHABLE),
        found.members().stream()
            .flatMap(member -> member.failure().stream())
            .map(LockException::reason)
            .toList());
    assertEquals(
        Set.of(here.client(0).id(), here.client(2).id()),
        found.members().stream()
            .flatMap(member -> member.holders().stream())
            .map(holder -> holder.clientId().orElseThrow())
            .collect(Collectors.toSet()));
    assertTrue(lease.isValid());
    nodes.restore(1);
    lease.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"KILLED", "PAUSED", "CUT_OFF", "REFUSING", "BREAKING", "SILENCED"})
  void withoutAMajorityThereIsNoAnswer(ServerFault fault) throws Exception {
    QuorumClients here = connect(fault);
    RedLock lock = here.lock(name);
    nodes.begin(fault, 0, 2);
    for (Callable<?> query :
        List.<Callable<?>>of(lock::isLocked, lock::remainingLease, lock::forceUnlock)) {
      LockException thrown = assertThrows(LockException.class, query::call);
      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
      assertTrue(thrown.getMessage().contains("too few nodes answered"), thrown::getMessage);
      for (int node : List.of(0, 2)) {
        assertTrue(thrown.getMessage().contains(nodes.address(fault, node)), thrown::getMessage);
      }
    }
    nodes.restore(0, 2);
    Eventually.until("a majority answers again", () -> isFree(lock));
  }

  private static boolean isFree(RedLock lock) {
    try {
      return !lock.isLocked();
    } catch (LockException notYet) {
      return false;
    }
  }

  @Test
  void theRemainingLeaseIsTheShortestOfTheMajorityThatIsHeldLongest() {
    RedLock lock = nodes.direct(PATIENT, BUDGET).lock(name);
    List<Integer> minutes = List.of(20, 60, 40);
    for (int node = 0; node < 3; node++) {
      nodes.holdAsStranger(name, node);
      long millis = Duration.ofMinutes(minutes.get(node)).toMillis();
      nodes.server(node).command("PEXPIRE", name, Long.toString(millis));
    }

    long left = lock.remainingLease().orElseThrow().toMinutes();

    assertTrue(left > 20 && left <= 40, () -> left + " min");
    for (int node = 0; node < 3; node++) {
      nodes.server(node).command("DEL", name);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PAUSED", "CUT_OFF"})
  void aMinorityThatHoldsAndOneWithoutItMakeNoMajority(ServerFault fault) throws Exception {
    QuorumClients here = connect(fault);
    RedLock lock = here.lock(name);
    nodes.holdAsStranger(name, 0);
    assertFalse(lock.isLocked(), "one of three is no majority");
    nodes.begin(fault, 1);
    assertThrows(LockException.class, lock::isLocked);
    nodes.restore(1);
    nodes.server(0).command("DEL", name);
  }
}
