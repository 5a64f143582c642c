package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.PARKED;
import static io.mortise.testkit.ContractTimings.SLACK;
import static io.mortise.testkit.ContractTimings.SOON;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Comparators;
import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * A test of one lock by two clients, under a new name each time.
 *
 * <p><b>Threads.</b> JUnit runs a test on one thread of its own, which it leaves if the lock keeps
 * it for ever; {@code actor} is another one.
 */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // lock() ignores interrupts
@SuppressWarnings("LockNotBeforeTry") // a test of holds, which it checks one by one
abstract class AbstractLockContract implements LockFamily {
  private static final int WAKE_UPS = 5;

  /** Without a message a waiter asks again after 2.5 s at the earliest, with its heartbeat. */
  private static final Duration WOKEN = Duration.ofSeconds(1);

  private static final Duration POLL = Duration.ofMillis(20);

  String name;
  DistributedLock lock;
  DistributedLock other;
  TestThread actor;

  @BeforeEach
  final void freshName() {
    name = "contract:" + UUID.randomUUID();
    lock = lock(name);
    other = otherProcess(name);
    actor = new TestThread("actor of " + name);
  }

  @AfterEach
  final void closeActor() {
    actor.close();
  }

  /** Asserts that a view is the same lock as the lock itself; leaves it released. */
  final void assertSameLock(DistributedLock view) {
    assertEquals(lock, view);
    assertEquals(lock.hashCode(), view.hashCode());
    assertEquals(lock.name(), view.name());
    view.lock();
    lock.lock();
    assertEquals(2, lock.holdCount());
    assertSame(lock.lease(), view.lease());
    view.unlock();
    assertEquals(1, view.holdCount());
    lock.unlock();
    assertEquals(0, lock.holdCount());
  }

  /** Asserts that the call throws that the hold was lost, and why. */
  final void assertLost(Reason reason, Executable call) {
    var lost = assertThrows(LeaseLostException.class, call);
    assertEquals(reason, lost.loss().reason(), lost::getMessage);
    String message = String.valueOf(lost.getMessage());
    assertTrue(message.contains(lock.name()), message);
  }

  /**
   * Asserts that the end of a hold wakes a waiter. A waiter that no message wakes gets the lock
   * too, but only when it asks again, about a default lease after it was parked. Most of the rounds
   * have to be faster than that: the machine may stand still in any one.
   *
   * @param round returns how long the waiter took, see {@link #timeToWake}
   */
  final void assertWakes(Callable<Duration> round) throws Exception {
    Duration limit = Comparators.min(lease().dividedBy(3), WOKEN);
    List<Duration> late = new ArrayList<>();
    for (int i = 0; i < WAKE_UPS; i++) {
      Duration took = round.call();
      if (took.compareTo(limit) >= 0) {
        late.add(took);
      }
      assertTrue(late.size() <= WAKE_UPS / 2, () -> "no message within " + limit + ": " + late);
    }
  }

  /** Returns how long after the end of the hold the actor goes on with this wait for the lock. */
  final Duration timeToWake(Future<?> wait, TestThread.Action endOfHold) throws Exception {
    actor.awaitBlocked();
    await("the actor to be parked")
        .pollDelay(Duration.ZERO)
        .pollInterval(POLL)
        .during(PARKED)
        .atMost(SLACK)
        .until(() -> !wait.isDone());
    long start = System.nanoTime();
    endOfHold.run();
    TestThread.result(wait);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  /**
   * Asserts that nobody has the lock or a place in its queue: a place that is left keeps everybody
   * out until the waiter timeout.
   */
  final void assertNothingLeft() throws Exception {
    await("what is over leaves nothing")
        .pollDelay(Duration.ZERO)
        .pollInterval(POLL)
        .atMost(SOON)
        .until(() -> actor.ask(other::tryLock));
    actor.run(other::unlock);
  }
}
