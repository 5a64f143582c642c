package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One node leads at a time. */
@Timeout(60)
class LeadershipTest {
  /** Short, so that a loss is noticed soon: it is renewed every second. */
  private static final Duration LEASE = Duration.ofSeconds(3);

  @RegisterExtension final TwoClients processes = new TwoClients(LEASE);

  /** A leader takes no step before the test receives the one before. */
  private final SynchronousQueue<Led> steps = new SynchronousQueue<>();

  private record Led(String node, long token) {}

  private AsyncCall<Void> start(String node, LockClient client) {
    Leadership leadership = new Leadership(client, token -> steps.put(new Led(node, token)));
    return AsyncCall.run(leadership::run);
  }

  @Test
  void theNextNodeLeadsWhenTheLeaderIsStopped() throws Exception {
    AsyncCall<Void> here = start("here", processes.here());
    Led first = steps.take();
    assertEquals("here", first.node());
    AsyncCall<Void> there = start("there", processes.there()).awaitParked();

    here.interrupt();
    here.get();

    Led next = steps.take();
    assertEquals("there", next.node());
    assertTrue(next.token() > first.token());
    there.interrupt();
    there.get();
  }

  @Test
  void aLeaderThatLosesTheLockStandsAgain() throws Exception {
    AsyncCall<Void> here = start("here", processes.here());
    long token = steps.take().token();

    processes.there().lock("leader").forceUnlock();

    while (steps.take().token() == token) {
      assertTrue(here.thread().isAlive());
    }
    here.interrupt();
    here.get();
  }
}
