package io.mortise.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The acquisitions of one quorum lock in one process ask one after the other. */
@Timeout(60)
class AttemptTurnTest {
  private static final Duration LIVENESS = Duration.ofSeconds(30);
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(50);
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
  private static final long MOST_OF_PATIENCE_NANOS = PATIENCE_NANOS * 2 / 3;

  private final List<String> asked = new CopyOnWriteArrayList<>();

  /** The clock of the turns. Real waits end a while after it is set, and look at it. */
  private final AtomicLong nowNanos = new AtomicLong();

  private final AtomicInteger looks = new AtomicInteger();

  @AfterEach
  void nothingIsLeft() {
    await().atMost(LIVENESS).until(() -> AttemptTurn.locks() == 0);
  }

  private long time() {
    looks.incrementAndGet();
    return nowNanos.get();
  }

  private static CallerWait callersWait(boolean interruptible) {
    LeaseTerms terms =
        LeaseTerms.of(LockOptions.defaults(), Duration.ofHours(1), null, interruptible);
    return new CallerWait(terms, "orders", System::nanoTime);
  }

  private static void take(AttemptTurn turn, long nanos) throws InterruptedException {
    turn.await(callersWait(true), nanos, LONG_NANOS);
  }

  /** A turn that has been waited for in vain, by a clock that goes on. */
  private static void takeInVain(Object lock) throws InterruptedException {
    try (AttemptTurn turn = new AttemptTurn(lock, System::nanoTime)) {
      take(turn, SHORT_NANOS);
      assertFalse(turn.isMine());
    }
  }

  private Thread start(String name, boolean interruptible) {
    return start(name, interruptible, new CountDownLatch(0));
  }

  /** Starts a thread that waits for its turn, and keeps it until the end. */
  private Thread start(String name, boolean interruptible, CountDownLatch end) {
    Thread thread =
        new Thread(
            () -> {
              try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
                turn.await(callersWait(interruptible), LONG_NANOS, PATIENCE_NANOS);
                asked.add(turn.isMine() ? name : name + " without a turn");
                end.await();
              } catch (InterruptedException e) {
                asked.add(name + " interrupted");
              }
            });
    thread.start();
    await().atMost(LIVENESS).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }

  @Test
  void theTurnPassesInTheOrderInWhichTheyCome() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
      take(turn, LONG_NANOS);
      assertTrue(turn.isMine());
      start("first", true);
      start("second", true);
      assertEquals(List.of(), asked);
    }
    await().atMost(LIVENESS).until(() -> asked.equals(List.of("first", "second")));
  }

  @Test
  void anotherLockHasTurnsOfItsOwn() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time);
        AttemptTurn other = new AttemptTurn("stock", this::time)) {
      take(turn, LONG_NANOS);
      take(other, LONG_NANOS);
      assertTrue(other.isMine());
    }
  }

  @Test
  void whoHasWaitedLongEnoughAsksWithoutATurnAndTakesNoneAway() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", System::nanoTime)) {
      take(turn, LONG_NANOS);
      takeInVain("orders");
      takeInVain("orders"); // the turn is still taken
    }
  }

  /** Returns when the waiters have looked at the clock since now. */
  private void looked() {
    int before = looks.get();
    await().atMost(LIVENESS).until(() -> looks.get() >= before + 5);
  }

  @Test
  void aWaiterStaysWhileTheOneThatHasTheTurnIsAnswered() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
      take(turn, LONG_NANOS);
      start("first", true);
      for (int i = 0; i < 3; i++) {
        nowNanos.addAndGet(MOST_OF_PATIENCE_NANOS);
        looked();
        turn.answered();
      }
      assertEquals(List.of(), asked);
      nowNanos.addAndGet(PATIENCE_NANOS);
      await().atMost(LIVENESS).until(() -> asked.equals(List.of("first without a turn")));
    }
  }

  /** A pause of the process looks like silent nodes to all waiters. */
  @Test
  void whoHasAskedWithoutATurnWaitsAgainInItsPlace() throws Exception {
    AtomicBoolean again = new AtomicBoolean();
    try (AttemptTurn paused = new AttemptTurn("orders", this::time)) {
      Thread waiter;
      try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
        take(turn, LONG_NANOS);
        nowNanos.addAndGet(PATIENCE_NANOS);
        paused.await(callersWait(true), LONG_NANOS, PATIENCE_NANOS);
        assertFalse(paused.isMine());
        turn.answered();
        start("later", true);
        waiter =
            new Thread(
                () -> {
                  try {
                    paused.await(callersWait(true), LONG_NANOS, PATIENCE_NANOS);
                    again.set(paused.isMine());
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                });
        waiter.start();
        await().atMost(LIVENESS).until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
      }
      waiter.join();
      assertTrue(again.get());
      assertEquals(List.of(), asked);
    }
    await().atMost(LIVENESS).until(() -> asked.equals(List.of("later")));
  }

  @Test
  void anAnswerToOneWithoutTheTurnKeepsNobody() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time);
        AttemptTurn late = new AttemptTurn("orders", this::time)) {
      take(turn, LONG_NANOS);
      start("first", true);
      nowNanos.addAndGet(MOST_OF_PATIENCE_NANOS);
      late.answered();
      nowNanos.addAndGet(PATIENCE_NANOS - MOST_OF_PATIENCE_NANOS);
      await().atMost(LIVENESS).until(() -> asked.equals(List.of("first without a turn")));
    }
  }

  @Test
  void theWaitForAnAnswerBeginsAnewWithTheNextTurn() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
      turn.await(callersWait(true), LONG_NANOS, PATIENCE_NANOS);
      start("first", true, end);
      start("second", true);
      nowNanos.addAndGet(MOST_OF_PATIENCE_NANOS);
    }
    await().atMost(LIVENESS).until(() -> asked.equals(List.of("first")));
    nowNanos.addAndGet(MOST_OF_PATIENCE_NANOS);
    looked();
    assertEquals(List.of("first"), asked);
    end.countDown();
    await().atMost(LIVENESS).until(() -> asked.equals(List.of("first", "second")));
  }

  /** Each of many would report the outage later than the one before it. */
  @Test
  void theWaitForAnAnswerOfSilentNodesDoesNotBeginAnew() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (AttemptTurn late = new AttemptTurn("orders", this::time)) {
      try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
        turn.await(callersWait(true), LONG_NANOS, PATIENCE_NANOS);
        start("first", true, end);
        late.await(callersWait(true), SHORT_NANOS, 0); // its place is behind
        nowNanos.addAndGet(PATIENCE_NANOS);
        await().atMost(LIVENESS).until(() -> asked.equals(List.of("first without a turn")));
      }
      late.await(callersWait(true), LONG_NANOS, PATIENCE_NANOS);
      assertFalse(late.isMine());
      end.countDown();
    }
  }

  @Test
  void anInterruptEndsTheWaitForATurnIfTheTermsSaySo() throws Exception {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
      take(turn, LONG_NANOS);
      start("first", true).interrupt();
      await().atMost(LIVENESS).until(() -> asked.equals(List.of("first interrupted")));
      start("second", false).interrupt();
    }
    await().atMost(LIVENESS).until(() -> asked.contains("second"));
  }

  @Test
  void aThreadThatIsInterruptedBeforeGetsNoTurn() {
    try (AttemptTurn turn = new AttemptTurn("orders", this::time)) {
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, () -> take(turn, LONG_NANOS));
      assertFalse(turn.isMine());
    }
  }
}
