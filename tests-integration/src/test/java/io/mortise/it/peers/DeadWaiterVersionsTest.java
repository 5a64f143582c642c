package io.mortise.it.peers;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.fairlock.ServedOrder;
import io.mortise.it.support.Eventually;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Waiters of ours die in a fair queue, ahead of one of Redisson's, when no other client of ours
 * waits. Before 3.32.0 that one asks again at deadlines that lie ahead of it in the queue, and in
 * later versions when the lease ends that the lock had when it asked.
 */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(RedissonVersion.class)
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT) // the tests wait more than they compute
class DeadWaiterVersionsTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration BRIEFLY = Duration.ofSeconds(2);
  private static final Duration LONG = Duration.ofSeconds(6);

  /** How late a waiter may be on a busy machine. */
  private static final Duration SLACK = Duration.ofSeconds(5);

  @RegisterExtension static final VersionedPeers peers = new VersionedPeers(LEASE, LEASE);

  @RegisterExtension final ServedOrder order = new ServedOrder(peers, BRIEFLY);

  private final RedissonVersion version;
  private final Lock theirs;
  private final RedisFairLock held = order.here();

  /** A client through this proxy is dead for Redis when the proxy is cut. */
  @AutoClose private final FaultProxy way = FaultProxy.to(peers.server());

  DeadWaiterVersionsTest(RedissonVersion version) {
    this.version = version;
    theirs = peers.of(version).fairLock(order.name);
  }

  private LockClient mortal() {
    LockOptions.Builder options = LockOptions.builder().commandTimeout(Duration.ofSeconds(2));
    return LockClient.create(way.uri(), options.outageTimeout(Duration.ofMinutes(1)).build());
  }

  @Test
  void aDeadWaiterCostsItsTimeoutOrTheRestOfTheLease() {
    try (LockClient client = mortal()) {
      held.lock();
      order.queue("dead", order.lock(client));
      order.queue("R", theirs);
      dieAndRelease(2);
      order.awaitServed(LEASE.plus(SLACK), "R");
    }
  }

  /** The limit that {@code docs/wire.md} describes, and that Redisson 3.32.0 does not have. */
  @Test
  void twoDeadOnesWithDifferentTimeoutsLeaveAnOldRedissonToTheNextOfOurs() {
    try (LockClient client = mortal()) {
      held.lock();
      order.queue("dead, long", order.lock(client, LONG));
      order.queue("dead, briefly", order.lock(client, BRIEFLY));
      order.queue("R", theirs);
      dieAndRelease(3);
      if (version.isBefore("3.32.0")) {
        Eventually.holdsFor(LONG.plusSeconds(1), "none is served", () -> order.served().isEmpty());
        RedisFairLock next = order.there();
        order.start("M", next, () -> next.tryLock(Eventually.LIVENESS), new CountDownLatch(0));
        order.awaitServed("R", "M");
      } else {
        order.awaitServed(LONG.plus(SLACK), "R");
      }
    }
  }

  /** Ours die after they have kept their places for several times the short timeout. */
  private void dieAndRelease(int waiters) {
    Eventually.holdsFor(BRIEFLY.multipliedBy(4), "all wait", () -> order.length() == waiters);
    way.cut();
    held.unlock();
  }
}
