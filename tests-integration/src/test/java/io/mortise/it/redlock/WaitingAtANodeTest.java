package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A waiter waits at one node, whatever happens to that node, and does not poll. */
@Timeout(60)
class WaitingAtANodeTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final Duration BUDGET = Duration.ofMillis(600);
  private static final LockOptions OPTIONS = LockOptions.defaults();

  private final String name = Names.fresh();

  @Test
  void aNodeThatIsFreeWhileTheOthersAreHeldIsNotRequestedRepeatedly() throws Exception {
    for (int free = 0; free < nodes.count(); free++) {
      String lock = Names.fresh();
      QuorumClients here = nodes.proxied(OPTIONS, BUDGET);
      nodes.holdAsStranger(lock, (free + 1) % 3, (free + 2) % 3);
      Duration wait = Duration.ofSeconds(2);
      long sent =
          LateAnswer.repeat(
              wait,
              () -> {
                long before = nodes.scriptCalls();
                assertFalse(here.lock(lock).tryLock(wait));
                return nodes.scriptCalls() - before;
              });
      // A slice is 600 to 1200 ms: a few of them, each with a round, a release, a wait.
      assertTrue(sent < 100, () -> sent + " scripts in 2 s");
      nodes.awaitHolding(lock, 2);
    }
  }

  @Test
  void aWaiterIsWokenByTheMessageOfThatNode() throws Exception {
    Duration eight = Duration.ofSeconds(8); // so a slice is longer still
    QuorumClients here = nodes.proxied(OPTIONS, eight);
    QuorumClients there = nodes.proxied(OPTIONS, eight);
    try (TestThreads threads = new TestThreads()) {
      Lease theirs = there.acquireEverywhere(name);
      Future<Lease> waiter = threads.ask(() -> here.acquire(name));
      Eventually.until("a thread waits", () -> nodes.subscribers(name) == 1);
      long before = nodes.scriptCalls();
      long start = System.nanoTime();
      theirs.close();
      Lease lease = waiter.get();
      long millis = (System.nanoTime() - start) / 1_000_000;
      long sent = nodes.scriptCalls() - before;
      assertTrue(millis < 4_000, () -> millis + " ms, although a slice is at least 8 s");
      assertTrue(sent < 20, () -> sent + " scripts");
      lease.close();
      nodes.awaitHolding(name, 0);
    }
  }
}
