package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The outage timeout of an unbounded wait counts faults, and not the wait for a busy member. */
@Timeout(60)
class OutageAfterWaitTest {
  private static final Duration OUTAGE = Duration.ofMillis(300);
  private static final LockOptions OPTIONS = LockOptions.builder().outageTimeout(OUTAGE).build();

  @Test
  void oneFaultAfterALongWaitForABusyMemberIsNoLongOutage() throws Exception {
    try (InMemoryRedis first = InMemoryRedis.start();
        InMemoryRedis second = InMemoryRedis.start()) {
      // Members are acquired in the order of their servers' addresses.
      LockClient one = first.client(OPTIONS);
      LockClient two = second.client(OPTIONS);
      MultiLock lock = new MultiLock(one.lock("a"), two.lock("b"));
      Lease strangersA = first.client().lock("a").acquire();
      Lease strangersB = second.client().lock("b").acquire();

      AsyncCall<Boolean> waiter =
          AsyncCall.start(
              () -> {
                lock.lock();
                boolean held = lock.isHeldByCurrentThread();
                lock.unlock();
                return held;
              });
      waiter.awaitParked();
      boolean waitsForA = one.status().contended() > 0;
      Lease busy = waitsForA ? strangersB : strangersA;
      InMemoryRedis freed = waitsForA ? first : second;
      RedisLock free = freed.client().lock(waitsForA ? "a" : "b");
      (waitsForA ? strangersA : strangersB).close();
      // It has met the member that stays busy, and waits for that one while it holds none.
      Eventually.until(
          "it tries the other", () -> (waitsForA ? two : one).status().contended() > 0);
      Eventually.until("it gives that one back", () -> !free.isLocked());
      Eventually.holdsFor(OUTAGE.multipliedBy(3), "it holds none", () -> !free.isLocked());

      freed.failNext("LOADING Redis is loading the dataset in memory");
      busy.close();

      assertTrue(waiter.get());
    }
  }
}
