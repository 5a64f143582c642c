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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The acquisitions of one quorum lock in one process ask one after the other. */
@Timeout(60)
class AskingTurnTest {
  private static final Duration LIVENESS = Duration.ofSeconds(30);
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(50);
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final List<String> asked = new CopyOnWriteArrayList<>();

  @AfterEach
  void nothingIsLeft() {
    await().atMost(LIVENESS).until(() -> AskingTurn.locks() == 0);
  }

  private static CallerWait callersWait(boolean interruptible) {
    LeaseTerms terms =
        LeaseTerms.of(LockOptions.defaults(), Duration.ofHours(1), null, interruptible);
    return new CallerWait(terms, "orders", System::nanoTime);
  }

  private static void take(AskingTurn turn, long nanos) throws InterruptedException {
    turn.await(callersWait(true), nanos);
  }

  private Thread start(String name, boolean interruptible) {
    Thread thread =
        new Thread(
            () -> {
              try (AskingTurn turn = new AskingTurn("orders")) {
                turn.await(callersWait(interruptible), LONG_NANOS);
                asked.add(turn.isMine() ? name : name + " without a turn");
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
    try (AskingTurn turn = new AskingTurn("orders")) {
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
    try (AskingTurn turn = new AskingTurn("orders");
        AskingTurn other = new AskingTurn("stock")) {
      take(turn, LONG_NANOS);
      take(other, LONG_NANOS);
      assertTrue(other.isMine());
    }
  }

  @Test
  void whoHasWaitedLongEnoughAsksWithoutATurnAndTakesNoneAway() throws Exception {
    try (AskingTurn turn = new AskingTurn("orders")) {
      take(turn, LONG_NANOS);
      try (AskingTurn late = new AskingTurn("orders")) {
        take(late, SHORT_NANOS);
        assertFalse(late.isMine());
      }
      try (AskingTurn third = new AskingTurn("orders")) {
        take(third, SHORT_NANOS);
        assertFalse(third.isMine(), "the turn is still taken");
      }
    }
  }

  @Test
  void anInterruptEndsTheWaitForATurnIfTheTermsSaySo() throws Exception {
    try (AskingTurn turn = new AskingTurn("orders")) {
      take(turn, LONG_NANOS);
      start("first", true).interrupt();
      await().atMost(LIVENESS).until(() -> asked.equals(List.of("first interrupted")));
      start("second", false).interrupt();
    }
    await().atMost(LIVENESS).until(() -> asked.contains("second"));
  }

  @Test
  void aThreadThatIsInterruptedBeforeGetsNoTurn() {
    try (AskingTurn turn = new AskingTurn("orders")) {
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, () -> take(turn, LONG_NANOS));
      assertFalse(turn.isMine());
    }
  }
}
