package io.mortise.connection.pipeline;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
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

/** Every command is sent once and answered, and none waits while no batch is under way. */
@Tag("interleavings")
class CommandCombinerInterleavingsTest {
  private static final int SCHEDULES = 500;
  private static final long AN_HOUR = 3_600_000_000_000L;

  /** Time stands still here. */
  private static final Ticker TICKER =
      new Ticker() {
        @Override
        public long read() {
          return 0;
        }
      };

  private static Deadline after(long nanos) {
    return Deadline.after(nanos, TICKER);
  }

  /** Answers every command, and counts them. */
  private static final class RecordingTransport implements CommandCombiner.BatchTransport {
    final AtomicInteger sent = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    final CommandCombiner combiner;

    RecordingTransport(int maxBatches) {
      combiner = new CommandCombiner("the server", new CombinerLimits(maxBatches, AN_HOUR), this);
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

    private void answer(PendingCommand pending) {
      assertFalse(pending.isAnswered());
      sent.incrementAndGet();
      pending.answer(new Reply(pending.command(), null, null));
    }

    /** Submits a command with each of these time limits, on a thread of its own. */
    void race(long... limitsNanos) throws InterruptedException {
      Interleavings.Step[] steps = new Interleavings.Step[limitsNanos.length];
      for (int i = 0; i < steps.length; i++) {
        long nanos = limitsNanos[i];
        steps[i] = () -> submit(nanos);
      }
      Interleavings.race(steps);
    }

    void submit(long nanos) throws CommandException {
      CommandArguments command = new CommandArguments(Command.PING);
      PendingCommand pending = new PendingCommand(command, 100, after(nanos));
      assertEquals(command, combiner.submit(pending).value());
    }
  }

  @Test
  void aCommandThatComesAsABatchEndsIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR);
          assertEquals(2, transport.sent.get());
        });
  }

  @Test
  void withOneBatchAtATimeEveryCommandIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void withTwoBatchesAtATimeEveryCommandIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(2);
          transport.race(AN_HOUR, AN_HOUR, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void aCommandThatABatchWithLittleTimeLeavesIsSent() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.race(AN_HOUR, AN_HOUR / 100, AN_HOUR);
          assertEquals(3, transport.sent.get());
        });
  }

  @Test
  void aBatchThatCannotBeSentLeavesItsTurnToTheOthers() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          transport.closed.set(1);
          AtomicInteger failed = new AtomicInteger();
          Interleavings.Step submitter =
              () -> {
                try {
                  transport.submit(AN_HOUR);
                } catch (CommandException closed) {
                  failed.incrementAndGet();
                }
              };
          race(submitter, submitter, submitter);
          assertEquals(1, failed.get());
          assertEquals(2, transport.sent.get());
        });
  }

  @Test
  void aCommandThatIsWithdrawnDelaysNoOther() {
    check(
        SCHEDULES,
        () -> {
          RecordingTransport transport = new RecordingTransport(1);
          AtomicReference<CommandException> late = new AtomicReference<>();
          race(
              () -> transport.submit(AN_HOUR),
              () -> {
                try {
                  transport.submit(0);
                } catch (CommandException fault) {
                  late.set(fault);
                }
              },
              () -> transport.submit(AN_HOUR));
          CommandException fault = late.get();
          int sent = fault == null || fault.mayHaveExecuted() ? 3 : 2;
          assertEquals(sent, transport.sent.get());
        });
  }

  @Test
  void aBatchThatEndsByAnErrorIsOver() {
    check(
        SCHEDULES,
        () -> {
          AtomicInteger errors = new AtomicInteger(1);
          CommandCombiner combiner =
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
          Interleavings.Step submitter =
              () -> {
                try {
                  combiner.submit(
                      new PendingCommand(new CommandArguments(Command.PING), 100, after(AN_HOUR)));
                } catch (IllegalStateException error) {
                  failed.incrementAndGet();
                }
              };
          race(submitter, submitter);
          assertEquals(1, failed.get());
        });
  }
}
