package io.mortise.connection.concurrent;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.join;
import static io.mortise.connection.testing.Interleavings.race;
import static io.mortise.connection.testing.Interleavings.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.Interleavings;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A message is not missed, whenever it comes, and nobody wakes up without one. */
@Tag("interleavings")
class SignalInterleavingsTest {
  private static final long FOREVER = Long.MAX_VALUE;
  private static final int SCHEDULES = 150;

  @Test
  void oneMessageWakesAllWhoHaveSeenTheGenerationBeforeIt() {
    check(
        SCHEDULES,
        () -> {
          Signal signal = new Signal();
          long seen = signal.generation();
          Interleavings.Step waiter =
              () -> {
                signal.await(seen, FOREVER);
                assertNotEquals(seen, signal.generation(), "woken by nothing");
              };
          race(waiter, waiter, signal::fire);
          assertEquals(seen + 1, signal.generation());
        });
  }

  @Test
  void whoAsksBetweenGenerationAndAwaitMissesNoChange() {
    check(
        SCHEDULES,
        () -> {
          Signal signal = new Signal();
          AtomicBoolean free = new AtomicBoolean();
          race(
              () -> {
                long seen = signal.generation();
                while (!free.get()) {
                  signal.await(seen, FOREVER);
                  seen = signal.generation();
                }
              },
              () -> {
                signal.fire(); // not about what is waited for
                free.set(true);
                signal.fire();
              });
        });
  }

  @Test
  void noMessageIsCountedTwiceOrNotAtAll() {
    check(
        SCHEDULES,
        () -> {
          Signal signal = new Signal();
          race(signal::fire, signal::fire);
          assertEquals(2, signal.generation());
        });
  }

  @Test
  void whoIsInterruptedTakesNoMessageFromTheOthers() {
    check(
        SCHEDULES,
        () -> {
          Signal signal = new Signal();
          long seen = signal.generation();
          AtomicBoolean interrupted = new AtomicBoolean();
          var threads =
              start(
                  () -> {
                    try {
                      signal.await(seen, FOREVER);
                      assertNotEquals(seen, signal.generation(), "woken by nothing");
                    } catch (InterruptedException e) {
                      interrupted.set(true);
                    }
                  },
                  () -> signal.await(seen, FOREVER));
          threads.get(0).interrupt();
          signal.fire();
          for (Thread thread : threads) {
            join(thread);
          }
          assertTrue(interrupted.get() || signal.generation() != seen);
        });
  }
}
