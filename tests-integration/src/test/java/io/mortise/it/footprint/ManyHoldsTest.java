package io.mortise.it.footprint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ten thousand holds at once are renewed in batches, and none is lost. */
@Tag("alone")
class ManyHoldsTest {
  private static final int HOLDS = 10_000;
  private static final int THREADS = 16;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration WATCHED = LEASE.multipliedBy(2);

  /** Of the average command; about 80 of these holds fit into the 16 KiB that one may have. */
  private static final int MIN_BATCH = 50;

  @Test
  @Timeout(90)
  void tenThousandHoldsAreRenewedInBatchesAndNoneIsLost() throws Exception {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri(), options);
        TestThreads threads = new TestThreads()) {
      Queue<Lease> leases = new ConcurrentLinkedQueue<>();
      AtomicInteger lost = new AtomicInteger();
      acquireAll(client, threads, leases, lost);

      server.resetStats();
      Eventually.holdsFor(WATCHED, "none is lost", () -> lost.get() == 0);
      Map<String, Long> stats = server.commandStats();
      long calls = stats.getOrDefault("evalsha", 0L);
      long renewals = stats.getOrDefault("pexpire", 0L);
      System.out.printf(
          "%,d holds for %d leases: %,d renewals in %d EVALSHA%n",
          HOLDS, WATCHED.dividedBy(LEASE), renewals, calls);
      // At a third of each lease, and not more often than every quarter.
      long times = WATCHED.dividedBy(LEASE);
      assertTrue(renewals >= HOLDS * times * 2, () -> renewals + " renewals");
      assertTrue(renewals <= HOLDS * (times + 1) * 5, () -> renewals + " renewals");
      assertTrue(calls * MIN_BATCH <= renewals, () -> calls + " calls, " + stats);

      assertEquals(HOLDS, client.status().holds());
      assertTrue(leases.stream().allMatch(Lease::isValid));
      assertEquals(HOLDS * 2L, ClientRecords.otherKeys(server), "each hold and its token");
      closeAll(threads, leases);
      assertEquals(0, lost.get());
      ClientResources.awaitNone(client);
    }
  }

  private static void acquireAll(
      LockClient client, TestThreads threads, Queue<Lease> leases, AtomicInteger lost)
      throws Exception {
    String prefix = Names.fresh() + ":";
    AtomicInteger next = new AtomicInteger();
    for (int thread = 0; thread < THREADS; thread++) {
      threads.start(
          () -> {
            for (int i = next.getAndIncrement(); i < HOLDS; i = next.getAndIncrement()) {
              Lease lease = new RedisLock(client, prefix + i).tryAcquire().orElseThrow();
              lease.onLost(loss -> lost.incrementAndGet());
              leases.add(lease);
            }
          });
    }
    threads.join(Duration.ofSeconds(30));
  }

  private static void closeAll(TestThreads threads, Queue<Lease> leases) throws Exception {
    for (int thread = 0; thread < THREADS; thread++) {
      threads.start(
          () -> {
            for (Lease lease = leases.poll(); lease != null; lease = leases.poll()) {
              lease.close();
            }
          });
    }
    threads.join(Duration.ofSeconds(30));
  }
}
