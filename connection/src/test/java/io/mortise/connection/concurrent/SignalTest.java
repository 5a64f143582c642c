package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SignalTest {
  private static final long AN_HOUR = 3_600_000_000_000L;

  private final Signal signal = new Signal();

  @Test
  void aMessageBetweenAttemptAndParkIsNotLost() throws Exception {
    long seen = signal.generation();
    signal.fire();

    signal.await(seen, AN_HOUR);
  }

  @Test
  void severalMessagesBeforeTheParkAreOneWakeUp() throws Exception {
    long seen = signal.generation();
    signal.fire();
    signal.fire();

    signal.await(seen, AN_HOUR);
    signal.await(seen + 1, AN_HOUR);
  }

  @Test
  void aMessageWakesAllWhoWait() throws Exception {
    long seen = signal.generation();
    List<BackgroundCall<Boolean>> waiters =
        Stream.generate(() -> BackgroundCall.startAndPark(() -> awaited(seen))).limit(3).toList();
    assertTrue(waiters.stream().noneMatch(BackgroundCall::isDone));

    signal.fire();

    for (BackgroundCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
  }

  @Test
  void aMessageThatWasSeenAlreadyDoesNotWake() throws Exception {
    signal.fire();
    long seen = signal.generation();

    long start = System.nanoTime();
    signal.await(seen, 2_000_000);

    assertTrue(System.nanoTime() - start >= 2_000_000, "it has waited for all of its time");
    assertEquals(seen, signal.generation());
  }

  @Test
  void aWaitOfNothingOrLessIsOverAtOnce() throws Exception {
    signal.await(signal.generation(), 0);
    signal.await(signal.generation(), -1);
    signal.await(signal.generation(), Long.MIN_VALUE);
  }

  @Test
  void anInterruptEndsTheWait() {
    long seen = signal.generation();
    BackgroundCall<Boolean> waiter = BackgroundCall.startAndPark(() -> awaited(seen));

    waiter.interrupt();

    var end = assertThrows(ExecutionException.class, waiter::get);
    assertEquals(InterruptedException.class, end.getCause().getClass());
  }

  @Test
  void anInterruptBeforeTheWaitIsSeenAlsoWhenThereIsNothingToWaitFor() {
    long seen = signal.generation();
    signal.fire();
    Thread.currentThread().interrupt();

    assertThrows(InterruptedException.class, () -> signal.await(seen, AN_HOUR));
    assertFalse(Thread.interrupted(), "who throws it has taken it");
  }

  private boolean awaited(long seen) throws InterruptedException {
    signal.await(seen, AN_HOUR);
    return signal.generation() != seen;
  }
}
