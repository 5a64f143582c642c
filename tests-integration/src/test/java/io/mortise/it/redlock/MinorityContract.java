package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each minority of the nodes may fail in each way at each moment, and the lock goes on. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MinorityContract {
  /** Much longer than a test takes: what goes away did not expire. */
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .commandTimeout(Duration.ofMillis(500))
          .build();

  private static final Duration BUDGET = Duration.ofMillis(300);

  private final int count;
  private FaultyNodes nodes;

  MinorityContract(int count) {
    this.count = count;
  }

  @BeforeAll
  void start() {
    nodes = FaultyNodes.start(count);
  }

  @AfterAll
  void stop() {
    nodes.close();
  }

  Stream<Arguments> faults() {
    return Arrays.stream(NodeFault.values())
        .flatMap(
            fault ->
                NodeSets.subsets(count, 1, (count - 1) / 2).stream()
                    .map(minority -> Arguments.of(fault, minority)));
  }

  /** One lock for each moment, because a fault costs more than a lock. */
  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("faults")
  void theLockGoesOnWithoutAMinority(NodeFault fault, List<Integer> minority) throws Exception {
    String wanted = Names.fresh();
    String awaited = Names.fresh();
    String held = Names.fresh();
    String released = Names.fresh();
    List<String> names = List.of(wanted, awaited, held, released);
    try (QuorumClients here = party(fault).warm();
        QuorumClients there = party(fault).warm();
        TestThreads crew = new TestThreads()) {
      Lease theirs = there.takeEverywhere(awaited);
      Future<Lease> waiter = crew.ask(() -> here.take(awaited));
      List<Lease> holds = new ArrayList<>(List.of(here.takeEverywhere(held)));
      Lease last = here.takeEverywhere(released);
      Eventually.until("it waits", () -> nodes.subscribers(awaited) > 0);

      nodes.begin(fault, minority);
      try {
        last.close();
        holds.add(here.take(wanted));
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
          there.pass(name);
        }
      } finally {
        nodes.end(fault, minority);
      }
      names.forEach(name -> nodes.awaitHolding(name, 0));
    }
  }

  private QuorumClients party(NodeFault fault) {
    return fault.isOfTheNetwork() ? nodes.party(OPTIONS, BUDGET) : nodes.direct(OPTIONS, BUDGET);
  }

  /** A node that is well may be too slow for its budget on a busy machine, but none grants. */
  private static void assertExcluded(RedLock other) {
    Eventually.until(
        "the other is told that it is held",
        () -> {
          try {
            assertTrue(other.tryAcquire().isEmpty(), "the other must not get it");
            return true;
          } catch (LockException tooSlow) {
            return false;
          }
        });
  }
}
