package io.mortise.connection.pipeline;

import static io.mortise.connection.pipeline.RecordingTransport.AN_HOUR;
import static io.mortise.connection.pipeline.RecordingTransport.PING;
import static io.mortise.connection.pipeline.RecordingTransport.after;
import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.testing.Interleavings;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A batch that fails, and a command that is withdrawn, keep no other command waiting. */
@Tag("interleavings")
class CommandCombinerFailureInterleavingsTest {
  private static final int SCHEDULES = 500;

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
                    List<PendingCommand> batch = Interleavings.list();
                    others.accept(batch);
                    batch.forEach(each -> each.answer(new Reply(1L, null, null)));
                  });
          AtomicInteger failed = new AtomicInteger();
          Interleavings.Step submitter =
              () -> {
                try {
                  combiner.submit(new PendingCommand(PING, 100, after(AN_HOUR)));
                } catch (IllegalStateException error) {
                  failed.incrementAndGet();
                }
              };
          race(submitter, submitter);
          assertEquals(1, failed.get());
        });
  }
}
