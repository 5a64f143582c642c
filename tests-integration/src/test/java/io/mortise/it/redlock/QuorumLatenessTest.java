package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The loss of a composite hold is notified when the hold ends by the local clock, and not when it
 * is next used. Measured at the listener, with default options too.
 */
@Timeout(180)
class QuorumLatenessTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<Lease> held = new ArrayList<>();
  private QuorumClients here;

  private void connect(LockOptions options) {
    here = nodes.proxied(options, Duration.ofMillis(500));
  }

  private List<DistributedLock> locks() {
    String name = Names.fresh();
    return List.of(
        here.lock(name + ":red"),
        new MultiLock(plain(0, name + ":a"), plain(0, name + ":b")),
        new MultiLock(plain(0, name + ":c"), plain(1, name + ":c")));
  }

  private DistributedLock plain(int node, String name) {
    return new RedisLock(here.client(node), name);
  }

  /** Records how late the listener is against the deadline of the hold itself. */
  private void listen(Lease lease, BlockingQueue<Long> late) {
    long deadlineNanos = System.nanoTime() + lease.remaining().toNanos();
    lease.onLost(loss -> late.add(System.nanoTime() - deadlineNanos));
    held.add(lease); // reachable, but not used any more
  }

  private static void assertPrompt(String what, BlockingQueue<Long> late, int losses)
      throws Exception {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < losses; i++) {
      Long one = late.poll(90, TimeUnit.SECONDS);
      assertTrue(one != null, "all losses are notified, and not only " + nanos);
      nanos.add(one);
    }
    Collections.sort(nanos);
    long most = nanos.get(losses - 1);
    System.out.printf(
        "%s: %d losses notified late by %.1f ms (median), %.1f ms (p99), %.1f ms (most)%n",
        what,
        losses,
        nanos.get(losses / 2) / 1e6,
        nanos.get((losses * 99 - 1) / 100) / 1e6,
        most / 1e6);
    assertTrue(most < MOST_NANOS, () -> "notified " + most / 1_000_000 + " ms late");
  }

  @Test
  void withDefaultOptionsAndALeaseOfTheCallers() throws Exception {
    connect(LockOptions.defaults());
    for (int millis : List.of(200, 1_000, 5_000)) {
      BlockingQueue<Long> late = new LinkedBlockingQueue<>();
      for (int i = 0; i < 10; i++) {
        for (DistributedLock lock : locks()) {
          listen(lock.acquire(LIVENESS, Duration.ofMillis(millis + i)).orElseThrow(), late);
        }
      }
      assertPrompt("lease of " + millis + " ms", late, 30);
    }
    assertEquals(90, held.size());
  }

  @Test
  void renewedWithRedisOutOfReach() throws Exception {
    connect(
        LockOptions.builder()
            .lease(Duration.ofSeconds(4))
            .commandTimeout(Duration.ofSeconds(1))
            .build());
    BlockingQueue<Long> late = new LinkedBlockingQueue<>();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      for (DistributedLock lock : locks()) {
        leases.add(lock.acquire(LIVENESS).orElseThrow());
      }
    }
    nodes.begin(CUT_OFF, 0, 1, 2);
    for (Lease lease : leases) {
      listen(lease, late);
    }
    assertPrompt("renewed, out of reach", late, 30);
  }

  @Test
  void besideHoldsThatAreRenewed() throws Exception {
    connect(LockOptions.defaults());
    List<Lease> renewed =
        Stream.concat(locks().stream(), locks().stream())
            .map(lock -> lock.tryAcquire().orElseThrow())
            .toList();
    BlockingQueue<Long> late = new LinkedBlockingQueue<>();
    for (int i = 0; i < 10; i++) {
      for (DistributedLock lock : locks()) {
        listen(lock.acquire(LIVENESS, Duration.ofMillis(500)).orElseThrow(), late);
      }
    }
    assertPrompt("beside renewed ones", late, 30);
    renewed.forEach(Lease::close);
  }
}
