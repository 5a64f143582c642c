package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job that two nodes start on the same schedule, with clocks that differ by 300 ms. */
@Timeout(60)
class ScheduledJobTest {
  @RegisterExtension static final TwoClients nodes = new TwoClients();

  private static final int TICKS = 3;
  private static final Duration DIFFERENCE = Duration.ofMillis(300);

  /** Longer than the second node is late on a busy machine. */
  private static final Duration MINIMUM = Duration.ofSeconds(3);

  private final String name = Names.fresh();
  private int runs;

  /** Runs the job as one node does: if the other has it, not at all. */
  private void tick(DistributedLock lock) {
    if (lock.tryLock()) {
      try {
        runs++; // a short job
      } finally {
        lock.unlock();
      }
    }
  }

  private int runsOf(UnaryOperator<DistributedLock> view) {
    runs = 0;
    DistributedLock first = view.apply(new RedisLock(nodes.here(), name));
    DistributedLock second = view.apply(new RedisLock(nodes.there(), name));
    for (int i = 0; i < TICKS; i++) {
      long start = System.nanoTime();
      tick(first);
      until("the second clock", () -> System.nanoTime() - start >= DIFFERENCE.toNanos());
      tick(second);
      until("the next tick", () -> !first.isLocked());
    }
    return runs;
  }

  @Test
  void itRunsOnceAtEachTick() {
    assertEquals(TICKS, runsOf(lock -> lock.withLease(MINIMUM.multipliedBy(2)).atLeast(MINIMUM)));
  }

  @Test
  void withoutAMinimumBothNodesRunEveryTick() {
    assertEquals(2 * TICKS, runsOf(lock -> lock));
  }
}
