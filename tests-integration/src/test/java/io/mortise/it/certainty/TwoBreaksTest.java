package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A second break of connections soon after the first is looked at too, with default options. */
@Timeout(60)
class TwoBreaksTest {
  /** Well before the next renewal, which would find the loss too, at a third of the lease. */
  private static final long SOON_SECONDS = 4;

  @Test
  void aServerThatLosesItsDataAtTheSecondBreakIsFoundOutSoon() throws Exception {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.to(server);
        LockClient client = LockClient.create(proxy.uri())) {
      RedisLock asked = new RedisLock(client, Names.fresh());
      for (int round = 0; round < 5; round++) {
        Lease lease = new RedisLock(client, Names.fresh()).tryAcquire().orElseThrow();
        CompletableFuture<LeaseLoss> told = new CompletableFuture<>();
        lease.onLost(told::complete);
        proxy.closeConnections();
        assertTrue(!asked.isLocked(), "which meets the first break");
        server.command("FLUSHALL");
        proxy.closeConnections();
        assertTrue(!asked.isLocked(), "which meets the second");
        assertEquals(LeaseLoss.Reason.MISSING, told.get(SOON_SECONDS, TimeUnit.SECONDS).reason());
      }
    }
  }
}
