package io.mortise.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** A command that waits for whoever takes it along. */
@Timeout(60)
class PassengerTest {
  private static final long TOO_LONG = 600_000_000_000L;

  private static Passenger passenger() {
    return new Passenger(new CommandArguments(Command.PING), 100, System.nanoTime() + TOO_LONG);
  }

  private static Reply reply() {
    return new Reply("an answer", null, null);
  }

  /** Has one look, in vain, and does that between it and the sleep, when it asks for the time. */
  private static Glance oneLookAndThen(Runnable action) {
    AtomicInteger asked = new AtomicInteger();
    return new Glance(
        1,
        () -> {
          if (asked.get() == 3) {
            action.run();
          }
          return asked.getAndIncrement();
        },
        () -> {});
  }

  @Test
  void anAnswerBetweenTheLastLookAndTheSleepIsNotMissed() throws Exception {
    Passenger passenger = passenger();
    AtomicInteger times = new AtomicInteger();
    Glance glance =
        oneLookAndThen(
            () -> {
              times.incrementAndGet();
              passenger.answer(reply());
            });

    passenger.await(TOO_LONG, glance, 0);

    assertEquals(1, times.get());
    assertEquals("an answer", passenger.reply().value());
  }

  @Test
  void neitherIsACall() {
    Passenger passenger = passenger();

    passenger.await(TOO_LONG, oneLookAndThen(passenger::call), 0);

    assertTrue(passenger.isToLook());
  }

  @Test
  void whoSleepsIsWoken() throws Exception {
    CountDownLatch made = new CountDownLatch(1);
    Passenger[] one = new Passenger[1];
    TestThread<Object> sleeper =
        TestThread.start(
            () -> {
              one[0] = passenger();
              made.countDown();
              while (!one[0].isToLook()) {
                one[0].await(TOO_LONG, TripParts.NO_GLANCE, 1);
              }
              return one[0].reply().value();
            });
    made.await();
    sleeper.awaitParked();

    one[0].answer(reply());

    assertEquals("an answer", sleeper.get());
  }

  @Test
  void whoHasItsAnswerAtAGlanceDoesNotSleep() throws Exception {
    Passenger passenger = passenger();
    Glance glance = new Glance(TOO_LONG, System::nanoTime, () -> passenger.answer(reply()));
    LockSupport.unpark(Thread.currentThread());

    passenger.await(TOO_LONG, glance, 1);

    assertEquals("an answer", passenger.reply().value());
    LockSupport.parkNanos(TOO_LONG); // it would have taken the permit, and this would not end
  }
}
