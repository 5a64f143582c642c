package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
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
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An interrupt ends the whole wait at once, whatever the wait is for, and is never lost. */
@Timeout(60)
class MultiInterruptTest {
  private static final int MIDDLE = 1;
  private static final int LAST = 2;

  @RegisterExtension
  static final MemberServers servers = new MemberServers(3, Duration.ofSeconds(3));

  private final MultiLock lock = servers.multi();

  private static AsyncCall<String> outcome(Callable<?> call) {
    return AsyncCall.start(
        () -> {
          try {
            return "returned " + call.call();
          } catch (InterruptedException e) {
            return Thread.interrupted()
                ? "thrown, and the interrupt status is still set"
                : "thrown";
          }
        });
  }

  private boolean lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
    return true;
  }

  /** The interrupted call leaves nothing held except what strangers hold. */
  private static void assertEnds(AsyncCall<String> caller, Set<Integer> strangers)
      throws Exception {
    caller.interrupt();
    assertTimeout(Duration.ofSeconds(5), () -> assertEquals("thrown", caller.get()));
    assertEquals(strangers, servers.held());
    servers.awaitIdle();
  }

  /** Returns whether the condition came to hold, perhaps only for a moment. */
  private static boolean spinUntil(Duration atMost, BooleanSupplier condition) {
    long deadlineNanos = System.nanoTime() + atMost.toNanos();
    while (System.nanoTime() - deadlineNanos < 0) {
      if (condition.getAsBoolean()) {
        return true;
      }
    }
    return false;
  }

  @Test
  void beforeTheCallNothingIsSent() throws Exception {
    for (Callable<?> call :
        List.<Callable<?>>of(
            () -> lock.tryLock(HOUR),
            () -> lock.tryLock(Duration.ZERO),
            () -> lock.acquire(HOUR),
            () -> lock.acquire(HOUR, HOUR),
            this::lockInterruptibly)) {
      AsyncCall<String> caller =
          outcome(
              () -> {
                Thread.currentThread().interrupt();
                return call.call();
              });
      assertEquals("thrown", caller.get());
    }
    assertEquals(0, servers.scriptCalls(0));
  }

  @Test
  void whileHoldingNothing() throws Exception {
    servers.holdAsStranger(0);
    for (Callable<?> call :
        List.<Callable<?>>of(
            () -> lock.tryLock(HOUR), () -> lock.acquire(HOUR), this::lockInterruptibly)) {
      AsyncCall<String> caller = outcome(call);
      caller.awaitIn(EngineTypes.PARKED);
      assertEnds(caller, Set.of(0));
    }
  }

  /**
   * Starts a call whose first round found the last member busy, and whose second one finds the
   * middle one busy: it waits for that while it holds the first.
   */
  private AsyncCall<String> inItsSecondRound(Callable<?> call) throws Exception {
    servers.holdAsStranger(LAST);
    AsyncCall<String> caller = outcome(call);
    caller.awaitIn(EngineTypes.PARKED);
    servers.holdAsStranger(MIDDLE);
    servers.releaseAsStranger(LAST);
    return caller;
  }

  @Test
  void whileHoldingTheFirst() throws Exception {
    int hits = 0;
    for (int i = 0; i < 20 && hits < 3; i++) {
      AsyncCall<String> caller =
          inItsSecondRound(i % 2 == 0 ? () -> lock.tryLock(HOUR) : () -> lock.acquire(HOUR));
      hits += spinUntil(Duration.ofMillis(500), () -> servers.isHeld(0)) ? 1 : 0;
      assertEnds(caller, Set.of(MIDDLE));
      servers.releaseAsStranger(MIDDLE);
    }
    assertTrue(hits > 0, "the first was never held");
  }

  @Test
  void inTheLocalQueue() throws Exception {
    servers.lock(LAST).lock();
    AsyncCall<String> caller = outcome(() -> lock.tryLock(HOUR));
    caller.awaitIn(EngineTypes.QUEUE);
    caller.interrupt();
    assertEquals("thrown", caller.get());
    assertEquals(Set.of(LAST), servers.held());
    servers.lock(LAST).unlock();
  }

  @Test
  void inThePauseBetweenTwoRounds() throws Exception {
    int hits = 0;
    for (int i = 0; i < 20 && hits < 3; i++) {
      AsyncCall<String> caller = inItsSecondRound(() -> lock.tryLock(HOUR));
      hits +=
          spinUntil(Duration.ofSeconds(2), () -> caller.isIn(MultiLockTypes.ACQUISITION, "pause"))
              ? 1
              : 0;
      assertEnds(caller, Set.of(MIDDLE));
      servers.releaseAsStranger(MIDDLE);
    }
    assertTrue(hits > 0, "the pause was never hit");
  }

  @Test
  void whileAServerDoesNotAnswer() throws Exception {
    servers.begin(CUT_OFF, LAST);
    AsyncCall<String> caller = outcome(() -> lock.tryLock(HOUR));
    servers.awaitFirstAcquired();
    caller.interrupt();
    assertEquals("thrown", caller.get());
    assertFalse(servers.isHeld(0));
  }

  // ---- calls that ignore interrupts

  private AsyncCall<Set<Integer>> uninterruptible() {
    return AsyncCall.start(
        () -> {
          lock.lock();
          assertTrue(Thread.currentThread().isInterrupted(), "the status is kept");
          Set<Integer> held = servers.held();
          lock.unlock();
          assertTrue(Thread.currentThread().isInterrupted(), "the status is kept");
          return held;
        });
  }

  private static void assertContinues(AsyncCall<?> caller) throws InterruptedException {
    // For the current round, the pause, and the next round.
    holdsFor(
        Duration.ofMillis(700),
        "the wait continues",
        () -> {
          caller.interrupt();
          return !caller.isDone();
        });
  }

  @Test
  void lockContinuesWhileHoldingNothing() throws Exception {
    servers.holdAsStranger(0);
    AsyncCall<Set<Integer>> caller = uninterruptible();
    caller.awaitIn(EngineTypes.PARKED);
    assertContinues(caller);
    servers.releaseAsStranger(0);
    assertEquals(Set.of(0, MIDDLE, LAST), caller.get());
  }

  @Test
  void lockContinuesWhileItWaitsForTheLast() throws Exception {
    servers.holdAsStranger(LAST);
    AsyncCall<Set<Integer>> caller = uninterruptible();
    assertContinues(caller);
    servers.releaseAsStranger(LAST);
    assertEquals(Set.of(0, MIDDLE, LAST), caller.get());
  }

  @Test
  void lockContinuesInTheLocalQueueOfTheLast() throws Exception {
    servers.lock(LAST).lock();
    AsyncCall<Set<Integer>> caller = uninterruptible();
    assertContinues(caller);
    servers.lock(LAST).unlock();
    assertEquals(Set.of(0, MIDDLE, LAST), caller.get());
  }

  @Test
  void lockAndUnlockWorkUnderAnInterruptAndKeepIt() throws Exception {
    MultiLock group =
        new MultiLock(lock, new RedisLock(servers.here(0), servers.name(0) + ":more"));
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
    assertTrue(caller.get(), "the status is kept");
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void cancellingTheStageEndsItsWait() throws Exception {
    servers.holdAsStranger(LAST);
    var stage = lock.acquireAsync(HOUR).toCompletableFuture();
    servers.awaitFirstAcquired();
    stage.cancel(true);
    assertThrows(CancellationException.class, stage::join);
    servers.awaitIdle();
    assertEquals(Set.of(LAST), servers.held());
  }
}
