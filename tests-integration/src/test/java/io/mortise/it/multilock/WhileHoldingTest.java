package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.holdsFor;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nobody waits long for a lock that is only in the hand of somebody who waits for another. */
@Timeout(90)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class WhileHoldingTest {
  private static final int TURNS = 5;
  private static final int LAST = 2;

  /** 3.2 s in hand, and more than a busy machine ever needs. */
  private static final long MOST_MILLIS = 3_200 + 8_000;

  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  private static AsyncCall<Boolean> waiter() {
    MultiLock lock = sites.multi();
    return AsyncCall.start(
        () -> {
          lock.lock();
          boolean all = lock.isHeldByCurrentThread() && sites.held().equals(Set.of(0, 1, 2));
          lock.unlock();
          return all;
        });
  }

  /** Takes the lock again and again; how long each time took, in ms. */
  private static List<Long> turns(DistributedLock lock) throws Exception {
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < TURNS; i++) {
      long start = System.nanoTime();
      assertTrue(lock.tryLock(MemberServers.LIVENESS));
      waits.add((System.nanoTime() - start) / 1_000_000);
      lock.unlock();
    }
    return waits;
  }

  private static void assertTakenAgainAndAgain(DistributedLock... free) throws Exception {
    sites.holdAsStranger(LAST);
    AsyncCall<Boolean> waiter = waiter();
    sites.awaitFirstTaken();
    for (DistributedLock lock : free) {
      List<Long> waits = turns(lock);
      System.out.println("turns beside a MultiLock that waits for another member, ms: " + waits);
      assertTrue(waits.stream().allMatch(wait -> wait < MOST_MILLIS), waits::toString);
    }
    assertFalse(waiter.isDone());
    sites.releaseAsStranger(LAST);
    assertTrue(waiter.get());
    sites.awaitIdle();
    assertEquals(Set.of(), sites.held());
  }

  @Test
  void otherProcessesTakeTheFirstMembersWhileTheLastIsWaitedFor() throws Exception {
    assertTakenAgainAndAgain(sites.other(0), sites.other(1));
  }

  @Test
  void otherThreadsOfTheProcessDoToo() throws Exception {
    assertTakenAgainAndAgain(sites.lock(1), sites.lock(0));
  }

  @Test
  void whatGoesInOneRoundTripIsNotInHandAtAllWhileOneOfItIsWaitedFor() throws Exception {
    RedisLock first = new RedisLock(sites.here(0), sites.name(0) + ":first");
    RedisLock last = new RedisLock(sites.here(0), sites.name(0) + ":last");
    MultiLock lock = new MultiLock(first, sites.lock(0), last);
    sites.holdAsStranger(0);
    AsyncCall<Boolean> waiter =
        AsyncCall.start(
            () -> {
              boolean taken = lock.tryLock(MemberServers.LIVENESS);
              lock.unlock();
              return taken;
            });
    waiter.awaitIn(EngineTypes.PARKED);

    holdsFor(
        Duration.ofSeconds(1),
        "both others are free",
        () -> !sites.exists(0, first.name()) && !sites.exists(0, last.name()));

    sites.releaseAsStranger(0);
    assertTrue(waiter.get());
  }
}
