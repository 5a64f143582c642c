package io.mortise.connection.pipeline;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.Interleavings;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Every command is sent once and answered, and nobody waits while nobody is on the way. */
@Tag("interleavings")
class CommandCombinerInterleavingsTest {
  private static final int SCHEDULES = 500;
  private static final long AN_HOUR = 3_600_000_000_000L;

  /** A way on which everybody is answered, and what is asked by whom is remembered. */
  private static final class Road implements CommandCombiner.BatchTransport {
    final AtomicInteger sent = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    final CommandCombiner trips;

    Road(int atATime) {
      trips = new CommandCombiner("the server", new CombinerLimits(atATime, AN_HOUR), this);
    }

    @Override
    public void send(PendingCommand first, Supplier<List<PendingCommand>> others)
        throws CommandException {
      if (closed.get() > 0) {
        closed.decrementAndGet();
        throw new CommandException(Kind.UNREACHABLE, false, "closed", null);
      }
      answer(first);
      others.get().forEach(this::answer);
    }

    private void answer(PendingCommand passenger) {
      assertFalse(passenger.isAnswered());
      sent.incrementAndGet();
      passenger.answer(new Reply(passenger.command(), null, null));
    }

    void ride(long nanos) throws CommandException {
      CommandArguments command = new CommandArguments(Command.PING);
      PendingCommand passenger = new PendingCommand(command, 100, System.nanoTime() + nanos);
      assertEquals(command, trips.submit(passenger).value());
    }
  }

  @Test
  void whoComesAsATripEndsIsNotLeftBehind() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(1);
          race(() -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR));
          assertEquals(2, road.sent.get());
        });
  }

  @Test
  void oneTripAtATimeLeavesNobodyBehind() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(1);
          race(() -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR));
          assertEquals(3, road.sent.get());
        });
  }

  @Test
  void twoTripsAtATimeLeaveNobodyBehind() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(2);
          race(() -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR));
          assertEquals(3, road.sent.get());
        });
  }

  @Test
  void whoHasMuchTimeIsNotLeftBehindByWhoHasLittle() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(1);
          race(() -> road.ride(AN_HOUR), () -> road.ride(AN_HOUR / 100), () -> road.ride(AN_HOUR));
          assertEquals(3, road.sent.get());
        });
  }

  @Test
  void whoCannotGoLeavesTheWayToTheOthers() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(1);
          road.closed.set(1);
          AtomicInteger failed = new AtomicInteger();
          Interleavings.Step rider =
              () -> {
                try {
                  road.ride(AN_HOUR);
                } catch (CommandException closed) {
                  failed.incrementAndGet();
                }
              };
          race(rider, rider, rider);
          assertEquals(1, failed.get());
          assertEquals(2, road.sent.get());
        });
  }

  @Test
  void whoLeavesTheLineKeepsNobodyWaiting() {
    check(
        SCHEDULES,
        () -> {
          Road road = new Road(1);
          AtomicReference<CommandException> late = new AtomicReference<>();
          race(
              () -> road.ride(AN_HOUR),
              () -> {
                try {
                  road.ride(0);
                } catch (CommandException fault) {
                  late.set(fault);
                }
              },
              () -> road.ride(AN_HOUR));
          CommandException fault = late.get();
          int sent = fault == null || fault.mayHaveExecuted() ? 3 : 2;
          assertEquals(sent, road.sent.get());
        });
  }

  @Test
  void aTripThatEndsByAnErrorIsOver() {
    check(
        SCHEDULES,
        () -> {
          AtomicInteger errors = new AtomicInteger(1);
          CommandCombiner trips =
              new CommandCombiner(
                  "the server",
                  new CombinerLimits(1, AN_HOUR),
                  (first, others) -> {
                    if (errors.getAndDecrement() > 0) {
                      throw new IllegalStateException("an error");
                    }
                    first.answer(new Reply(1L, null, null));
                    others.get().forEach(each -> each.answer(new Reply(1L, null, null)));
                  });
          AtomicInteger failed = new AtomicInteger();
          Interleavings.Step rider =
              () -> {
                try {
                  trips.submit(
                      new PendingCommand(
                          new CommandArguments(Command.PING), 100, System.nanoTime() + AN_HOUR));
                } catch (IllegalStateException error) {
                  failed.incrementAndGet();
                }
              };
          race(rider, rider);
          assertEquals(1, failed.get());
        });
  }
}
