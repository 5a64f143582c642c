package io.mortise.it.redlock;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The loss of a hold that is made of others is told when the hold is over by this side's clock, and
 * not when somebody happens to look. Measured at the listener, with default options too.
 */
@Timeout(180)
class QuorumLatenessTest {
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<Lease> held = new ArrayList<>();
  private FaultyNodes nodes;
  private QuorumClients here;

  private void start(LockOptions options) throws Exception {
    nodes = FaultyNodes.start(3);
    here = nodes.party(options, Duration.ofMillis(500)).warm();
  }

  @AfterEach
  void stop() {
    here.close();
    nodes.close();
  }

  private List<DistributedLock> locks() {
    String name = Names.fresh();
    return List.of(
        here.lock(name + ":red"),
        new MultiLock(plain(0, name + ":a"), plain(0, name + ":b")),
        new MultiLock(plain(0, name + ":c"), plain(1, name + ":c")));
  }

  private DistributedLock plain(int place, String name) {
    return new RedisLock(here.clients().get(place), name);
  }

  /** How late the listener was, against the deadline that the hold itself gave. */
  private void listen(Lease lease, BlockingQueue<Long> late) {
    long deadlineNanos = System.nanoTime() + lease.remaining().toNanos();
    lease.onLost(loss -> late.add(System.nanoTime() - deadlineNanos));
    held.add(lease); // and nobody looks at it
  }

  private static void assertPrompt(String what, BlockingQueue<Long> late, int losses)
      throws Exception {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < losses; i++) {
      Long one = late.poll(90, TimeUnit.SECONDS);
      assertTrue(one != null, "all losses are told, and not only " + nanos);
      nanos.add(one);
    }
    Collections.sort(nanos);
    long most = nanos.get(losses - 1);
    System.out.printf(
        "%s: %d losses told late by %.1f ms (median), %.1f ms (p99), %.1f ms (most)%n",
        what,
        losses,
        nanos.get(losses / 2) / 1e6,
        nanos.get((losses * 99 - 1) / 100) / 1e6,
        most / 1e6);
    assertTrue(most < MOST_NANOS, () -> "told " + most / 1_000_000 + " ms late");
  }

  @Test
  void withDefaultOptionsAndALeaseOfTheCallers() throws Exception {
    start(LockOptions.defaults());
    for (int millis : List.of(200, 1_000, 5_000)) {
      BlockingQueue<Long> late = new LinkedBlockingQueue<>();
      for (int i = 0; i < 10; i++) {
        for (DistributedLock lock : locks()) {
          listen(
              lock.acquire(QuorumClients.LIVENESS, Duration.ofMillis(millis + i)).orElseThrow(),
              late);
        }
      }
      assertPrompt("lease of " + millis + " ms", late, 30);
    }
    assertEquals(90, held.size());
  }

  @Test
  void renewedWithRedisOutOfReach() throws Exception {
    start(
        LockOptions.builder()
            .lease(Duration.ofSeconds(4))
            .commandTimeout(Duration.ofSeconds(1))
            .build());
    BlockingQueue<Long> late = new LinkedBlockingQueue<>();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      for (DistributedLock lock : locks()) {
        leases.add(lock.acquire(QuorumClients.LIVENESS).orElseThrow());
      }
    }
    nodes.begin(NodeFault.CUT_OFF, List.of(0, 1, 2));
    for (Lease lease : leases) {
      listen(lease, late);
    }
    assertPrompt("renewed, out of reach", late, 30);
  }

  @Test
  void besideHoldsThatAreRenewed() throws Exception {
    start(LockOptions.defaults());
    List<Lease> renewed =
        Stream.concat(locks().stream(), locks().stream())
            .map(lock -> lock.tryAcquire().orElseThrow())
            .toList();
    BlockingQueue<Long> late = new LinkedBlockingQueue<>();
    for (int i = 0; i < 10; i++) {
      for (DistributedLock lock : locks()) {
        listen(lock.acquire(QuorumClients.LIVENESS, Duration.ofMillis(500)).orElseThrow(), late);
      }
    }
    assertPrompt("beside renewed ones", late, 30);
    renewed.forEach(Lease::close);
  }
}
