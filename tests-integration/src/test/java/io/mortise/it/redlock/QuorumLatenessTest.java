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
import io.mortise.it.support.Pauses;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
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

  /** A loss: the deadline of the hold, and when the listener was notified. */
  private record Late(long deadlineNanos, long notifiedNanos) {}

  @AutoClose private final Pauses pauses = Pauses.record();
  private final List<Lease> held = new ArrayList<>();
  private QuorumClients here;

  private void connect(LockOptions options) {
    connect(options, Duration.ofMillis(500));
  }

  private void connect(LockOptions options, Duration budget) {
    here = nodes.proxied(options, budget);
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
  private void listen(Lease lease, BlockingQueue<Late> late) {
    long leftNanos = lease.remaining().toNanos(); // before the time, for a pause in between
    long deadlineNanos = System.nanoTime() + leftNanos;
    lease.onLost(loss -> late.add(new Late(deadlineNanos, System.nanoTime())));
    held.add(lease); // reachable, but not used any more
  }

  /** The time in which this process did not run is not the product's. */
  private long runningNanos(Late late) {
    long paused = pauses.nanosWithin(late.deadlineNanos, late.notifiedNanos);
    return late.notifiedNanos - late.deadlineNanos - paused;
  }

  private void assertPrompt(String what, BlockingQueue<Late> late, int losses) throws Exception {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < losses; i++) {
      Late one = late.poll(90, TimeUnit.SECONDS);
      assertTrue(one != null, "all losses are notified, and not only " + nanos);
      nanos.add(runningNanos(one));
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
      BlockingQueue<Late> late = new LinkedBlockingQueue<>();
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
    BlockingQueue<Late> late = new LinkedBlockingQueue<>();
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
    connect(LockOptions.defaults(), Duration.ofSeconds(5)); // the last releases may be late
    List<Lease> renewed =
        Stream.concat(locks().stream(), locks().stream())
            .map(lock -> lock.tryAcquire().orElseThrow())
            .toList();
    BlockingQueue<Late> late = new LinkedBlockingQueue<>();
    for (int i = 0; i < 10; i++) {
      for (DistributedLock lock : locks()) {
        listen(lock.acquire(LIVENESS, Duration.ofMillis(500)).orElseThrow(), late);
      }
    }
    assertPrompt("beside renewed ones", late, 30);
    renewed.forEach(Lease::close);
  }
}
