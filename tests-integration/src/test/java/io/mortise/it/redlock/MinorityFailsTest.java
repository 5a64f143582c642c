package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.it.support.TestThreads;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each minority of the nodes may fail in each way at each moment, and the lock keeps working. */
@Timeout(60)
class MinorityFailsTest {
  /** Much longer than a test takes: what goes away did not expire. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .commandTimeout(Duration.ofSeconds(3))
          .build();

  /** What waits at a node that fails goes on after it. */
  private static final Duration BUDGET = Duration.ofSeconds(2);

  /**
   * When a node has lost its data, a release is in doubt if one of the others is slower, as on a
   * machine that stands still.
   */
  private static final Duration LONG_BUDGET = Duration.ofSeconds(10);

  @RegisterExtension static final FaultyNodes three = new FaultyNodes(3);
  @RegisterExtension static final FaultyNodes five = new FaultyNodes(5);

  /** Without UNHEARD, because SILENCED loses the same replies of scripts. */
  private static final List<ServerFault> FAULTS =
      List.copyOf(EnumSet.complementOf(EnumSet.of(ServerFault.UNHEARD)));

  static Stream<Arguments> faults() {
    return Stream.of(three, five)
        .flatMap(
            nodes ->
                FAULTS.stream()
                    .flatMap(
                        fault ->
                            nodes.minorities().stream()
                                .filter(minority -> isTried(nodes, fault, minority))
                                .map(minority -> Arguments.of(nodes.count(), fault, minority))));
  }

  /**
   * Returns whether that minority fails: each one of a node less than a majority, and of the
   * smaller ones another one for each fault.
   */
  private static boolean isTried(FaultyNodes nodes, ServerFault fault, List<Integer> minority) {
    return minority.size() == (nodes.count() - 1) / 2
        || minority.get(0) == FAULTS.indexOf(fault) % nodes.count();
  }

  /** One lock for each moment, because a fault costs more than a lock. */
  @ParameterizedTest(name = "{1} {2} of {0}")
  @MethodSource("faults")
  void theLockKeepsWorkingWithoutAMinority(int count, ServerFault fault, List<Integer> minority)
      throws Exception {
    FaultyNodes nodes = count == 3 ? three : five;
    String wanted = Names.fresh();
    String awaited = Names.fresh();
    String held = Names.fresh();
    String released = Names.fresh();
    List<String> names = List.of(wanted, awaited, held, released);
    Duration budget = fault == ServerFault.RESTARTED_EMPTY ? LONG_BUDGET : BUDGET;
    QuorumClients here = nodes.exposedTo(fault, OPTIONS, budget);
    QuorumClients there = nodes.exposedTo(fault, OPTIONS, budget);
    try (TestThreads threads = new TestThreads()) {
      Lease theirs = there.acquireEverywhere(awaited);
      Future<Lease> waiter = threads.ask(() -> here.acquire(awaited));
      List<Lease> holds = new ArrayList<>(List.of(here.acquireEverywhere(held)));
      Lease last = here.acquireEverywhere(released);
      Eventually.until("a thread waits", () -> nodes.subscribers(awaited) > 0);

      nodes.begin(fault, minority);
      last.close();
      holds.add(here.acquire(wanted));
      theirs.close();
      holds.add(waiter.get());
      for (String name : List.of(wanted, awaited, held)) {
        assertExcluded(there.lock(name));
      }
      for (Lease hold : holds) {
        assertTrue(hold.isValid(), hold::toString);
        hold.close();
      }
      for (String name : names) {
        there.cycle(name);
      }
      nodes.restore(minority);
      names.forEach(name -> nodes.awaitHolding(name, 0));
    }
  }

  /** A healthy node may exceed its budget on a busy machine, but no node grants. */
  private static void assertExcluded(RedLock other) {
    Eventually.until(
        "the other process finds it held",
        () -> {
          try {
            assertTrue(other.tryAcquire().isEmpty(), "the other process must not acquire it");
            return true;
          } catch (LockException tooSlow) {
            return false;
          }
        });
  }
}
