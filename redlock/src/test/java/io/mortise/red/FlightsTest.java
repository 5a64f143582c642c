package io.mortise.red;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.InFlight;
import io.mortise.red.Flights.Flight;
import io.mortise.red.Flights.Promptness;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that the asking thread collects itself. */
@Timeout(60)
class FlightsTest {
  private static final int NEVER = Integer.MAX_VALUE;

  private final Promptness promptness = new Promptness();
  private final Flights<String> flights = new Flights<>(promptness);
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
      flights.add(i, new Slow(new AtomicInteger(looks[i])));
    }
  }

  private void gather(int enough, long withinNanos) {
    flights.gather(
        flight -> arrived.add(flight.place()),
        () -> arrived.size() >= enough,
        System.nanoTime() + withinNanos);
  }

  private void gather(int enough) {
    gather(enough, TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void theyComeInTheOrderOfTheirArrival() {
    send(2, 0, 1);
    gather(3);

    assertEquals(List.of(1, 2, 0), arrived);
    assertNull(flights.takeOpen());
  }

  @Test
  void whatDoesNotArriveInAMomentIsLeftForOthers() {
    send(0, NEVER, 0);
    gather(3);

    assertEquals(List.of(0, 2), arrived);
    Flight<String> open = flights.takeOpen();
    assertEquals(1, open == null ? -1 : open.place());
    assertNull(flights.takeOpen());
  }

  @Test
  void noLookIsMadeWhenTheTimeIsOver() {
    send(1, 1);
    gather(2, 0);

    assertEquals(List.of(), arrived);
  }

  @Test
  void anInterruptEndsTheLooking() {
    send(0, 0);
    Thread.currentThread().interrupt();

    gather(2);

    assertEquals(List.of(), arrived);
    assertTrue(Thread.interrupted(), "it is still to be seen by who waits");
  }

  @Test
  void nodesThatAreFarAwayAreNotLookedAtForLong() {
    IntStream.range(0, 8).forEach(i -> promptness.note(false));

    long looked = IntStream.range(0, 3_200).filter(i -> promptness.nanos() > 0).count();

    assertTrue(looked > 20 && looked < 400, () -> "looked " + looked + " times of 3,200");
    promptness.note(true);
    assertTrue(promptness.nanos() > 0, "until they come nearer");
  }
}
