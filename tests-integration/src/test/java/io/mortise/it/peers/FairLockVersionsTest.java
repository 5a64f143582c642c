package io.mortise.it.peers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.fairlock.ServedOrder;
import io.mortise.it.support.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The fair lock beside {@code RedissonFairLock}: one queue. */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(RedissonVersion.class)
class FairLockVersionsTest extends PeerLockContract {
  private static final Duration WAITER_TIMEOUT = Duration.ofSeconds(3);

  /** The time that Redisson adds to the deadline of each waiter. */
  private static final long REDISSON_WAIT = 300_000;

  @RegisterExtension final ServedOrder order = new ServedOrder(peers, WAITER_TIMEOUT);

  FairLockVersionsTest(RedissonVersion version) {
    super(version);
  }

  @Override
  Lock theirs(RedissonPeer client) {
    return client.fairLock(order.name);
  }

  @Override
  DistributedLock ours(LockClient client) {
    return order.lock(client);
  }

  @Test
  void aMixedQueueIsServedInTheOrderOfRequest() {
    for (Lock holder : List.of(order.here(), theirs())) {
      int before = order.served().size();
      holder.lock();
      order.queue("R0", theirs());
      order.queue("M1", order.here());
      order.queue("M2", order.there());
      order.queue("R3", theirs());
      order.queue("M4", order.here());
      holder.unlock();
      await().until(() -> order.served().size() == before + 5);
      assertEquals(
          List.of("R0", "M1", "M2", "R3", "M4"), order.served().subList(before, before + 5));
      order.awaitNothingLeft();
    }
  }

  /** Redisson's waiter takes its 300 s off the deadlines behind it when it is served. */
  @Test
  void clientsWithDifferentWaiterTimeoutsKeepTheirPlacesBehindAWaiterOfTheirs() {
    Duration briefly = Duration.ofSeconds(2); // no waiter is later, on a busy machine either
    CountDownLatch longer = new CountDownLatch(1);
    RedisFairLock held = order.here();
    held.lock();
    order.queue("R", theirs());
    RedisFairLock first = order.lock(peers.there(), briefly);
    order.queue("short 1", first, () -> first.tryLock(Eventually.LIVENESS), longer);
    String heard = order.holders().get(1);
    await().until(() -> order.millisLeft(heard) <= REDISSON_WAIT + briefly.toMillis());
    order.queue("long", order.lock(peers.here(), Duration.ofSeconds(10)));
    String waits = order.holders().get(2);
    order.queue("short 2", order.lock(peers.there(), briefly));
    held.unlock();
    order.awaitServed("R", "short 1");
    assertTrue(order.millisLeft(waits) > briefly.toMillis(), "it has its own timeout");
    longer.countDown();
    order.awaitServed("R", "short 1", "long", "short 2");
  }
}
