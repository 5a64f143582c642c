package io.mortise.red;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.InFlight;
import io.mortise.red.Flights.Flight;
import io.mortise.red.Flights.Promptness;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that the asking thread collects itself. */
@Timeout(60)
class FlightsTest {
  private static final int NEVER = Integer.MAX_VALUE;

  private final Promptness promptness = new Promptness();

  /** Each look takes a microsecond; the clock wraps around. */
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);

  private final Flights<String> flights = new Flights<>(() -> clock.addAndGet(1_000));
  private final List<Integer> arrived = new ArrayList<>();

  @AfterEach
  void noInterruptIsLeft() {
    Thread.interrupted();
  }

  /** Arrives when it was looked at so often. */
  private record Slow(AtomicInteger looks) implements InFlight<String> {
    @Override
    public boolean isSent() {
      return true;
    }

    @Override
    public boolean hasArrived() {
      return looks.getAndDecrement() <= 0;
    }

    @Override
    public String await() {
      return "yes";
    }
  }

  private void send(int... looks) {
    for (int i = 0; i < looks.length; i++) {
      flights.add(i, new Slow(new AtomicInteger(looks[i])), promptness);
    }
  }

  private void gather(long withinNanos) {
    flights.gather(flight -> arrived.add(flight.place()), clock.get() + withinNanos);
  }

  private void gather() {
    gather(TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void theyComeInTheOrderOfTheirArrival() {
    send(2, 0, 1);
    gather();

    assertEquals(List.of(1, 2, 0), arrived);
    assertNull(flights.takeOpen());
  }

  @Test
  void whatDoesNotArriveInAMomentIsLeftForOthers() {
    send(0, NEVER, 0);
    gather();

    assertEquals(List.of(0, 2), arrived);
    Flight<String> open = flights.takeOpen();
    assertEquals(1, open == null ? -1 : open.place());
    assertNull(flights.takeOpen());
  }

  @Test
  void noLookIsMadeWhenTheTimeIsOver() {
    send(1, 1);
    gather(0);

    assertEquals(List.of(), arrived);
  }

  @Test
  void anInterruptEndsTheLooking() {
    send(0, 0);
    Thread.currentThread().interrupt();

    gather();

    assertEquals(List.of(), arrived);
    assertTrue(Thread.interrupted(), "it is still to be seen by who waits");
  }

  @Test
  void whatIsNotExpectedSoonIsNotWaitedFor() {
    Promptness late = new Promptness();
    int looks = 0;
    for (int i = 0; i < 3_200; i++) {
      AtomicInteger left = new AtomicInteger(NEVER);
      flights.add(0, new Slow(left), late);
      gather();
      assertNotNull(flights.takeOpen());
      looks += left.get() == NEVER ? 0 : 1;
    }

    int looked = looks;
    assertTrue(looked >= Promptness.MOST_MISSED, "until it has been late so often");
    assertTrue(looked > 20 && looked < 400, () -> "looked " + looked + " times of 3,200");
  }

  @Test
  void whoIsInTimeOnceIsExpectedAgain() {
    IntStream.range(0, Promptness.MOST_MISSED).forEach(i -> promptness.note(false));
    assertFalse(promptness.isLikely());

    promptness.note(true);

    assertTrue(promptness.isLikely());
  }

  @Test
  void thePromptOnesAreWaitedForAndTheLateOnesTakenAlong() {
    Promptness late = new Promptness();
    IntStream.range(0, Promptness.MOST_MISSED).forEach(i -> late.note(false));
    flights.add(0, new Slow(new AtomicInteger(1)), late);
    flights.add(1, new Slow(new AtomicInteger(3)), promptness);

    gather();

    assertEquals(List.of(0, 1), arrived);
    assertTrue(late.isLikely(), "it was in time");
  }
}
