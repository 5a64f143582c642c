package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A thread at the head of the local queue whose outage timeout is over makes room for the others: a
 * bounded wait moves to the tail, and an unbounded one ends.
 */
@Timeout(60)
class MoveToTailTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration OUTAGE_TIMEOUT = Duration.ofSeconds(5);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.proxied(
              redis,
              LockOptions.builder()
                  .outageTimeout(OUTAGE_TIMEOUT)
                  .lease(Duration.ofSeconds(2)) // for which an unanswered attempt stays pending
                  .tuning(t -> t.subscriptionLinger(Duration.ZERO)))
          .warm()
          .leavingNothing();

  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();

  /** Starts the second when the first has tried for half of its outage timeout. */
  private AsyncCall<Boolean> secondBehind(AsyncCall<?> first) {
    return secondBehind(first, () -> {});
  }

  /** The same; the second does something while it holds the lock. */
  private AsyncCall<Boolean> secondBehind(AsyncCall<?> first, TestThreads.Work whileHolding) {
    first.awaitParked();
    holdsFor(OUTAGE_TIMEOUT.dividedBy(2), "the first tries", () -> !first.isDone());
    return AsyncCall.start(
            () -> {
              boolean acquired = lock.tryLock(Duration.ofHours(1));
              whileHolding.run();
              lock.unlock();
              return acquired;
            })
        .awaitQueued();
  }

  @Test
  void aBoundedWaitMovesToTheTailAndAnInterruptEndsItThere() throws Exception {
    proxy.cut();
    AsyncCall<Boolean> first = AsyncCall.start(() -> lock.tryLock(Duration.ofHours(1)));
    AsyncCall<Boolean> second = secondBehind(first);
    first.awaitQueued(); // for the other half of the second's outage timeout

    first.interrupt();

    assertThrows(InterruptedException.class, first::get);
    proxy.restore();
    assertTrue(second.get(), "the second is at the head");
  }

  @Test
  void aWaitThatEndsAtTheTailBehindAHolderIsNoFault() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    Duration wait = OUTAGE_TIMEOUT.plusSeconds(6);
    proxy.cut();
    AsyncCall<Boolean> first = AsyncCall.start(() -> lock.tryLock(wait));
    AsyncCall<Boolean> second = secondBehind(first, ended::await);
    first.awaitQueued();

    proxy.restore();

    assertFalse(first.get(), "Redis answers, and the lock is held");
    ended.countDown();
    assertTrue(second.get(), "the second is at the head");
  }

  @Test
  void anUnboundedWaitEndsWithItsOutageTimeout() throws Exception {
    proxy.cut();
    AsyncCall<Void> first = AsyncCall.run(lock::lock);
    AsyncCall<Boolean> second = secondBehind(first);

    LockException thrown = assertThrows(LockException.class, first::get);

    assertTrue(thrown.getMessage().contains("LockOptions.outageTimeout, PT5S"), thrown::getMessage);
    proxy.restore();
    assertTrue(second.get(), "the second is at the head");
  }
}
