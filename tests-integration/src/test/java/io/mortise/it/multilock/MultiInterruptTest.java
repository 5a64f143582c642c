package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.holdsFor;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.AsyncCall;
import io.mortise.multilock.MultiLock;
import io.mortise.multilock.MultiLockTypes;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pitfall 23: an interrupt ends the whole wait at once, whatever it waits for, and is never lost.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MultiInterruptTest {
  private static final int LAST = 1;

  @RegisterExtension static final MemberServers sites = new MemberServers(2);

  private MultiLock lock;

  @BeforeEach
  void open() {
    lock = sites.multi();
  }

  private static AsyncCall<String> outcome(Callable<?> call) {
    return AsyncCall.start(
        () -> {
          try {
            return "returned " + call.call();
          } catch (InterruptedException e) {
            return Thread.interrupted() ? "thrown, and the status left standing" : "thrown";
          }
        });
  }

  /** What the interrupt ends leaves nothing behind; what a stranger holds stays his. */
  private static void assertEnds(AsyncCall<String> caller, Set<Integer> strangers)
      throws Exception {
    long start = System.nanoTime();
    caller.interrupt();
    assertEquals("thrown", caller.get());
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis < 5_000, () -> "ended after " + millis + " ms");
    assertEquals(strangers, sites.held());
    sites.awaitIdle();
  }

  @Test
  void beforeTheCallNothingIsSent() throws Exception {
    List<Callable<?>> calls =
        List.of(
            () -> lock.tryLock(MemberServers.HOUR),
            () -> lock.tryLock(Duration.ZERO),
            () -> lock.acquire(MemberServers.HOUR),
            () -> lock.acquire(MemberServers.HOUR, MemberServers.HOUR),
            () -> {
              lock.lockInterruptibly();
              return true;
            });
    for (Callable<?> call : calls) {
      AsyncCall<String> caller =
          outcome(
              () -> {
                Thread.currentThread().interrupt();
                return call.call();
              });
      assertEquals("thrown", caller.get());
    }
    assertEquals(0, sites.calls(0));
  }

  @Test
  void withNothingInHand() throws Exception {
    sites.holdAsStranger(0);
    for (Callable<?> call :
        List.<Callable<?>>of(
            () -> lock.tryLock(MemberServers.HOUR),
            () -> lock.acquire(MemberServers.HOUR),
            () -> {
              lock.lockInterruptibly();
              return true;
            })) {
      AsyncCall<String> caller = outcome(call);
      caller.awaitIn(EngineTypes.PARKED);
      assertEnds(caller, Set.of(0));
    }
  }

  @Test
  void withTheFirstInHand() throws Exception {
    sites.holdAsStranger(LAST);
    int hits = 0;
    for (int i = 0; i < 20 && hits < 3; i++) {
      Callable<?> call =
          i % 2 == 0
              ? () -> lock.tryLock(MemberServers.HOUR)
              : () -> lock.acquire(MemberServers.HOUR);
      AsyncCall<String> caller = outcome(call);
      long end = System.nanoTime() + 500_000_000L;
      boolean hit = false;
      while (!hit && System.nanoTime() - end < 0) {
        hit = sites.isHeld(0);
      }
      hits += hit ? 1 : 0;
      assertEnds(caller, Set.of(LAST));
    }
    assertTrue(hits > 0, "it was never in hand");
  }

  @Test
  void inTheLineOfTheProcess() throws Exception {
    sites.lock(LAST).lock();
    AsyncCall<String> caller = outcome(() -> lock.tryLock(MemberServers.HOUR));
    caller.awaitIn(EngineTypes.QUEUE);
    caller.interrupt();
    assertEquals("thrown", caller.get());
    assertEquals(Set.of(LAST), sites.held());
    sites.lock(LAST).unlock();
    sites.awaitIdle();
  }

  @Test
  void inThePauseBetweenTwoRounds() throws Exception {
    sites.holdAsStranger(LAST);
    int hits = 0;
    for (int i = 0; i < 20 && hits < 3; i++) {
      AsyncCall<String> caller = outcome(() -> lock.tryLock(MemberServers.HOUR));
      long end = System.nanoTime() + 2_000_000_000L;
      boolean hit = false;
      while (!hit && System.nanoTime() - end < 0) {
        hit = caller.isIn(MultiLockTypes.ACQUISITION, "pause");
      }
      hits += hit ? 1 : 0;
      assertEnds(caller, Set.of(LAST));
    }
    assertTrue(hits > 0, "the pause was never met");
  }

  @Test
  void whileAServerDoesNotAnswer() throws Exception {
    MemberFault.CUT_OFF.begin(sites, LAST);
    AsyncCall<String> caller = outcome(() -> lock.tryLock(MemberServers.HOUR));
    sites.awaitFirstTaken();
    caller.interrupt();
    assertEquals("thrown", caller.get());
    assertFalse(sites.isHeld(0));
    sites.restore();
    sites.awaitHeld(Set.of());
    sites.awaitIdle();
  }

  // ---- calls that no interrupt ends

  private AsyncCall<Set<Integer>> uninterruptible() {
    return AsyncCall.start(
        () -> {
          lock.lock();
          assertTrue(Thread.currentThread().isInterrupted(), "the status stands");
          Set<Integer> held = sites.held();
          lock.unlock();
          assertTrue(Thread.currentThread().isInterrupted(), "the status stands");
          return held;
        });
  }

  private static void assertGoesOn(AsyncCall<?> caller) throws InterruptedException {
    // Through the round in hand, the pause, and what comes after it.
    holdsFor(
        Duration.ofMillis(700),
        "it goes on",
        () -> {
          caller.interrupt();
          return !caller.isDone();
        });
  }

  @Test
  void lockGoesOnWithNothingInHand() throws Exception {
    sites.holdAsStranger(0);
    AsyncCall<Set<Integer>> caller = uninterruptible();
    caller.awaitIn(EngineTypes.PARKED);
    assertGoesOn(caller);
    sites.releaseAsStranger(0);
    assertEquals(Set.of(0, LAST), caller.get());
    sites.awaitIdle();
  }

  @Test
  void lockGoesOnWithTheFirstInHand() throws Exception {
    sites.holdAsStranger(LAST);
    AsyncCall<Set<Integer>> caller = uninterruptible();
    assertGoesOn(caller);
    sites.releaseAsStranger(LAST);
    assertEquals(Set.of(0, LAST), caller.get());
    sites.awaitIdle();
  }

  @Test
  void lockGoesOnInTheLineOfTheProcessWithTheFirstInHand() throws Exception {
    sites.lock(LAST).lock();
    AsyncCall<Set<Integer>> caller = uninterruptible();
    assertGoesOn(caller);
    sites.lock(LAST).unlock();
    assertEquals(Set.of(0, LAST), caller.get());
    sites.awaitIdle();
  }

  @Test
  void lockAndUnlockWorkUnderAnInterruptAndKeepIt() throws Exception {
    MultiLock group = new MultiLock(lock, new RedisLock(sites.here(0), sites.name(0) + ":more"));
    AsyncCall<Boolean> caller =
        AsyncCall.start(
            () -> {
              Thread.currentThread().interrupt();
              group.lock();
              assertTrue(group.tryLock());
              assertTrue(group.isLocked());
              group.unlock();
              group.unlock();
              group.tryAcquire().orElseThrow().close();
              return Thread.currentThread().isInterrupted();
            });
    assertTrue(caller.get(), "the status stands");
    assertEquals(Set.of(), sites.held());
    sites.awaitIdle();
  }

  @Test
  void cancellingTheStageEndsItsWait() throws Exception {
    sites.holdAsStranger(LAST);
    var stage = lock.acquireAsync(MemberServers.HOUR).toCompletableFuture();
    sites.awaitFirstTaken();
    stage.cancel(true);
    assertThrows(CancellationException.class, stage::join);
    sites.awaitIdle();
    assertEquals(Set.of(LAST), sites.held());
  }
}
