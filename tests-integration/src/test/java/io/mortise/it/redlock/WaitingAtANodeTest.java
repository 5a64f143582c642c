package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits, waits at one node, whatever becomes of that. Pitfall 4: nobody waits busily. */
@Timeout(60)
class WaitingAtANodeTest {
  private static final Duration BUDGET = Duration.ofMillis(600);
  private static final LockOptions OPTIONS = LockOptions.defaults();

  private final String name = Names.fresh();
  private FaultyNodes nodes;

  @BeforeEach
  void start() {
    nodes = FaultyNodes.start(3);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  /** How many scripts clients have run. */
  private long scripts() {
    long scripts = 0;
    for (int i = 0; i < nodes.count(); i++) {
      RedisServer server = nodes.server(i);
      scripts += server.commandStats().getOrDefault("evalsha", 0L);
    }
    return scripts;
  }

  @Test
  void aNodeThatIsFreeWhileTheOthersAreHeldIsNotAskedAgainAndAgain() throws Exception {
    for (int free = 0; free < nodes.count(); free++) {
      String lock = Names.fresh();
      try (QuorumClients here = nodes.party(OPTIONS, BUDGET).warm()) {
        for (int place = 0; place < nodes.count(); place++) {
          if (place != free) {
            nodes.holdAsStranger(lock, place);
          }
        }
        long before = scripts();
        assertFalse(here.lock(lock).tryLock(Duration.ofSeconds(2)));
        long sent = scripts() - before;
        // A slice is 600 to 1200 ms: a few of them, each with a ballot, a release, a wait.
        assertTrue(sent < 100, () -> sent + " scripts in 2 s");
        nodes.awaitHolding(lock, 2);
      }
    }
  }

  @Test
  void whoWaitsIsWokenByTheMessageOfThatNode() throws Exception {
    Duration eight = Duration.ofSeconds(8); // so a slice is longer still
    try (QuorumClients here = nodes.party(OPTIONS, eight).warm();
        QuorumClients there = nodes.party(OPTIONS, eight).warm();
        TestThreads crew = new TestThreads()) {
      Lease theirs = there.takeEverywhere(name);
      Future<Lease> waiter = crew.ask(() -> here.take(name));
      Eventually.until("it waits", () -> nodes.subscribers(name) == 1);
      long before = scripts();
      long start = System.nanoTime();
      theirs.close();
      Lease lease = waiter.get();
      long millis = (System.nanoTime() - start) / 1_000_000;
      long sent = scripts() - before;
      assertTrue(millis < 4_000, () -> millis + " ms, although a slice is at least 8 s");
      assertTrue(sent < 20, () -> sent + " scripts");
      lease.close();
      nodes.awaitHolding(name, 0);
    }
  }
}
