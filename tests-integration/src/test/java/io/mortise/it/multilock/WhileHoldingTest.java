package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.Eventually.holdsFor;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lock that is held only by a MultiLock that waits for another member is available soon. */
@Timeout(90)
class WhileHoldingTest {
  private static final int CYCLES = 5;
  private static final int LAST = 2;

  /** A hold of 3.2 s, and more than a busy machine ever needs. */
  private static final long MOST_MILLIS = 3_200 + 8_000;

  @RegisterExtension static final MemberServers servers = new MemberServers(3);

  private static AsyncCall<Boolean> waiter() {
    MultiLock lock = servers.multi();
    return AsyncCall.start(
        () -> {
          lock.lock();
          boolean all = lock.isHeldByCurrentThread() && servers.held().equals(Set.of(0, 1, 2));
          lock.unlock();
          return all;
        });
  }

  /** Acquires and releases the lock repeatedly; returns the duration of each acquisition in ms. */
  private static List<Long> waits(DistributedLock lock) throws Exception {
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < CYCLES; i++) {
      waits.add(Elapsed.millisOf(() -> lock.tryLock(LIVENESS)));
      assertTrue(lock.isHeldByCurrentThread());
      lock.unlock();
    }
    return waits;
  }

  private static void assertAvailable(DistributedLock... free) throws Exception {
    servers.holdAsStranger(LAST);
    AsyncCall<Boolean> waiter = waiter();
    servers.awaitFirstAcquired();
    for (DistributedLock lock : free) {
      List<Long> waits = waits(lock);
      System.out.println("waits beside a MultiLock that waits for another member, ms: " + waits);
      assertTrue(waits.stream().allMatch(wait -> wait < MOST_MILLIS), waits::toString);
    }
    assertFalse(waiter.isDone());
    servers.releaseAsStranger(LAST);
    assertTrue(waiter.get());
    servers.awaitIdle();
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void otherProcessesAcquireTheFirstMembersDuringTheWaitForTheLast() throws Exception {
    assertAvailable(servers.other(0), servers.other(1));
  }

  @Test
  void otherThreadsOfTheProcessDoToo() throws Exception {
    assertAvailable(servers.lock(1), servers.lock(0));
  }

  @Test
  void membersAcquiredInOneRoundTripAreNotHeldDuringTheWaitForOneOfThem() throws Exception {
    RedisLock first = new RedisLock(servers.here(0), servers.name(0) + ":first");
    RedisLock last = new RedisLock(servers.here(0), servers.name(0) + ":last");
    MultiLock lock = new MultiLock(first, servers.lock(0), last);
    servers.holdAsStranger(0);
    AsyncCall<Boolean> waiter =
        AsyncCall.start(
            () -> {
              boolean acquired = lock.tryLock(LIVENESS);
              lock.unlock();
              return acquired;
            });
    waiter.awaitIn(EngineTypes.PARKED);

    holdsFor(
        Duration.ofSeconds(1),
        "both others are free",
        () -> !servers.exists(first.name(), 0) && !servers.exists(last.name(), 0));

    servers.releaseAsStranger(0);
    assertTrue(waiter.get());
  }
}
