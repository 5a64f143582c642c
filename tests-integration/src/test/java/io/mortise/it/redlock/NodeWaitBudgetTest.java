package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pitfalls 29 and 31: a node that hangs costs nothing, or its budget when its vote decides. */
@Timeout(60)
class NodeWaitBudgetTest {
  /** Far longer than all that is not to wait for it. */
  private static final Duration BUDGET = Duration.ofSeconds(5);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(2))
          .commandTimeout(Duration.ofSeconds(12))
          .build();

  private static FaultyNodes nodes;

  private final String name = Names.fresh();

  @BeforeAll
  static void startNodes() {
    nodes = FaultyNodes.start(5);
  }

  @AfterAll
  static void stopNodes() {
    nodes.close();
  }

  @AfterEach
  void restore() {
    nodes.restore();
  }

  private interface Action {
    void run() throws Exception;
  }

  private static long millisOf(Action action) throws Exception {
    long start = System.nanoTime();
    action.run();
    return (System.nanoTime() - start) / 1_000_000;
  }

  @ParameterizedTest
  @EnumSource(
      value = NodeFault.class,
      names = {"KILLED", "PAUSED", "CUT_OFF", "SILENCED"})
  void aMinorityThatFailsCostsNothing(NodeFault fault) throws Exception {
    for (List<Integer> minority : List.of(List.of(0, 1), List.of(3, 4))) {
      try (QuorumClients here = party(fault, BUDGET).warm()) {
        nodes.begin(fault, minority);
        long millis =
            millisOf(
                () -> {
                  for (int cycle = 0; cycle < 20; cycle++) {
                    here.pass(name);
                  }
                });
        nodes.end(fault, minority);
        assertTrue(millis < BUDGET.toMillis(), () -> "20 cycles took " + millis + " ms");
        nodes.awaitHolding(name, 0);
      }
    }
  }

  private static QuorumClients party(NodeFault fault, Duration budget) {
    return fault.isOfTheNetwork() ? nodes.party(OPTIONS, budget) : nodes.direct(OPTIONS, budget);
  }

  @Test
  void aMinorityThatHangsWhileItHoldsCostsAReleaseNothing() throws Exception {
    try (QuorumClients here = nodes.direct(OPTIONS, BUDGET).warm()) {
      Lease lease = here.takeEverywhere(name);
      nodes.begin(NodeFault.PAUSED, List.of(0, 3));
      long millis = millisOf(lease::close);
      assertTrue(millis < BUDGET.toMillis() / 2, () -> "it took " + millis + " ms");
      nodes.end(NodeFault.PAUSED, List.of(0, 3));
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void theVoteThatDecidesCostsItsBudget() throws Exception {
    Duration budget = Duration.ofSeconds(1);
    try (QuorumClients here = nodes.direct(OPTIONS, budget).warm()) {
      nodes.holdAsStranger(name, 0);
      nodes.holdAsStranger(name, 1);
      nodes.begin(NodeFault.PAUSED, List.of(2));
      RedLock lock = here.lock(name);
      long millis = millisOf(() -> assertFalse(lock.tryLock()));
      assertTrue(millis >= 1_000 && millis < 4_000, () -> "it took " + millis + " ms");
      nodes.end(NodeFault.PAUSED, List.of(2));
      nodes.awaitHolding(name, 2);
    }
  }

  @Test
  void aWaitThatWasBusyAllTheTimeIsNoErrorBecauseItsLastRoundWasSlow() throws Exception {
    try (QuorumClients here = nodes.direct(OPTIONS, Duration.ofMillis(300)).warm()) {
      List<Integer> all = List.of(0, 1, 2, 3, 4);
      all.forEach(place -> nodes.holdAsStranger(name, place));
      AsyncCall<Boolean> caller =
          AsyncCall.start(() -> here.lock(name).tryLock(Duration.ofSeconds(4), OPTIONS.lease()));
      nodes.awaitWaiter(name);
      Eventually.holdsFor(Duration.ofMillis(2_600), "it waits", () -> !caller.isDone());
      nodes.begin(NodeFault.PAUSED, all);
      assertFalse(caller.get());
      nodes.end(NodeFault.PAUSED, all);
    }
  }

  @Test
  void aWaitThatHadNoAnswerForMostOfTheTimeIsAnError() throws Exception {
    try (QuorumClients here = nodes.direct(OPTIONS, Duration.ofMillis(300)).warm()) {
      List<Integer> all = List.of(0, 1, 2, 3, 4);
      all.forEach(place -> nodes.holdAsStranger(name, place));
      AsyncCall<Boolean> caller =
          AsyncCall.start(() -> here.lock(name).tryLock(Duration.ofSeconds(5), OPTIONS.lease()));
      nodes.awaitWaiter(name);
      nodes.begin(NodeFault.PAUSED, all);
      assertThrows(LockException.class, caller::get);
      nodes.end(NodeFault.PAUSED, all);
    }
  }

  @Test
  void aReleaseThatAMajorityDoesNotConfirmCostsTheBudgetAndSaysSo() throws Exception {
    Duration budget = Duration.ofSeconds(1);
    try (QuorumClients here = nodes.direct(OPTIONS, budget).warm()) {
      Lease lease = here.takeEverywhere(name);
      nodes.begin(NodeFault.PAUSED, List.of(0, 1, 2));
      long millis =
          millisOf(
              () -> {
                LockException thrown = assertThrows(LockException.class, lease::close);
                assertTrue(thrown.getMessage().contains("could not be confirmed"));
              });
      assertTrue(millis >= 900 && millis < 4_000, () -> "it took " + millis + " ms");
      assertEquals(Lease.State.RELEASED, lease.state());
      nodes.end(NodeFault.PAUSED, List.of(0, 1, 2));
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void twoThousandCyclesBesideANodeThatHangsLeaveFewThreads() throws Exception {
    try (QuorumClients here = nodes.direct(OPTIONS, BUDGET).warm()) {
      nodes.begin(NodeFault.PAUSED, List.of(0));
      RedLock lock = here.lock(name);
      int most = 0;
      long start = System.nanoTime();
      for (int cycle = 0; cycle < 2_000; cycle++) {
        lock.lock();
        lock.unlock();
        if (cycle % 100 == 0) {
          most = Math.max(most, threads(here));
        }
      }
      long took = (System.nanoTime() - start) / 1_000_000;
      int left = threads(here);
      System.out.printf(
          "2,000 cycles with one of 5 nodes paused: %d ms, at most %d threads%n", took, most);
      int seen = Math.max(most, left);
      assertTrue(seen < 50, () -> seen + " threads");
      nodes.end(NodeFault.PAUSED, List.of(0));
      Eventually.until("idle threads end", () -> threads(here) <= 2 * here.clients().size());
      nodes.awaitHolding(name, 0);
      here.awaitIdle();
    }
  }

  private static int threads(QuorumClients party) {
    int threads = 0;
    for (LockClient client : party.clients()) {
      threads += ClientResources.threads(client).size();
    }
    return threads;
  }
}
