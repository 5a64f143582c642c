package io.mortise.it.redlock;

import static io.mortise.it.support.ServerFault.PAUSED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A node that hangs costs nothing, or its budget if its vote decides. */
@Timeout(60)
class NodeWaitBudgetTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(5);

  /** Much longer than anything that must not wait for it. */
  private static final Duration BUDGET = Duration.ofSeconds(5);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(2))
          .commandTimeout(Duration.ofSeconds(12))
          .build();

  private static final int[] ALL = {0, 1, 2, 3, 4};

  private final String name = Names.fresh();

  @ParameterizedTest
  @EnumSource(
      value = ServerFault.class,
      names = {"KILLED", "PAUSED", "CUT_OFF", "SILENCED"})
  void aMinorityThatFailsCostsNothing(ServerFault fault) throws Exception {
    for (List<Integer> minority : List.of(List.of(0, 1), List.of(3, 4))) {
      QuorumClients here = nodes.exposedTo(fault, OPTIONS, BUDGET);
      nodes.begin(fault, minority);
      assertTimeout(
          BUDGET,
          () -> {
            for (int cycle = 0; cycle < 20; cycle++) {
              here.cycle(name);
            }
          });
      nodes.restore(minority);
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void aMinorityThatHangsWhileItHoldsCostsAReleaseNothing() throws Exception {
    QuorumClients here = nodes.direct(OPTIONS, BUDGET);
    Lease lease = here.acquireEverywhere(name);
    nodes.begin(PAUSED, 0, 3);
    assertTimeout(BUDGET.dividedBy(2), lease::close);
  }

  @Test
  void aVoteThatDecidesCostsItsBudget() throws Exception {
    Duration budget = Duration.ofSeconds(1);
    QuorumClients here = nodes.direct(OPTIONS, budget);
    nodes.holdAsStranger(name, 0, 1);
    nodes.begin(PAUSED, 2);
    RedLock lock = here.lock(name);
    long start = System.nanoTime();
    assertFalse(lock.tryLock());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= 1_000 && millis < 4_000, () -> "it took " + millis + " ms");
    nodes.restore(2);
    nodes.awaitHolding(name, 2);
  }

  @Test
  void aWaitThatFoundTheLockHeldIsNoErrorAlthoughItsLastRoundWasSlow() throws Exception {
    QuorumClients here = nodes.direct(OPTIONS, Duration.ofMillis(300));
    nodes.holdAsStranger(name, ALL);
    AsyncCall<Boolean> caller =
        AsyncCall.start(() -> here.lock(name).tryLock(Duration.ofSeconds(8), OPTIONS.lease()));
    nodes.awaitWaiter(name);
    Eventually.holdsFor(Duration.ofMillis(5_500), "the call waits", () -> !caller.isDone());
    nodes.begin(PAUSED, ALL);
    assertFalse(caller.get());
  }

  @Test
  void aWaitWithoutRepliesForMostOfTheTimeIsAnError() throws Exception {
    QuorumClients here = nodes.direct(OPTIONS, Duration.ofMillis(300));
    nodes.holdAsStranger(name, ALL);
    AsyncCall<Boolean> caller =
        AsyncCall.start(() -> here.lock(name).tryLock(Duration.ofSeconds(5), OPTIONS.lease()));
    nodes.awaitWaiter(name);
    nodes.begin(PAUSED, ALL);
    assertThrows(LockException.class, caller::get);
  }

  @Test
  void aReleaseThatAMajorityDoesNotConfirmCostsTheBudgetAndThrows() throws Exception {
    Duration budget = Duration.ofSeconds(1);
    QuorumClients here = nodes.direct(OPTIONS, budget);
    Lease lease = here.acquireEverywhere(name);
    nodes.begin(PAUSED, 0, 1, 2);
    long start = System.nanoTime();
    LockException thrown = assertThrows(LockException.class, lease::close);
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(thrown.getMessage().contains("could not be confirmed"));
    assertTrue(millis >= 900 && millis < 4_000, () -> "it took " + millis + " ms");
    assertEquals(Lease.State.RELEASED, lease.state());
  }

  @Test
  @Timeout(180)
  void twoThousandCyclesBesideANodeThatHangsLeaveFewThreads() throws Exception {
    QuorumClients here = nodes.direct(OPTIONS, BUDGET);
    nodes.begin(PAUSED, 0);
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
    nodes.restore(0);
    Eventually.until("idle threads end", () -> threads(here) <= 2 * here.clients().size());
    nodes.awaitHolding(name, 0);
    here.awaitIdle();
  }

  private static int threads(QuorumClients process) {
    return process.clients().stream()
        .mapToInt(client -> ClientResources.threads(client).size())
        .sum();
  }
}
