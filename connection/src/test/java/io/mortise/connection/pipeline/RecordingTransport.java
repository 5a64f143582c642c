package io.mortise.connection.pipeline;

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
import java.util.function.Consumer;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Answers every command with itself, and counts them. */
final class RecordingTransport implements CommandCombiner.BatchTransport {
  static final long AN_HOUR = 3_600_000_000_000L;

  /** Made before the scenario: it has an {@code ArrayList}. */
  static final CommandArguments PING = new CommandArguments(Command.PING);

  /** Time stands still here. */
  private static final Ticker TICKER =
      new Ticker() {
        @Override
        public long read() {
          return 0;
        }
      };

  static Deadline after(long nanos) {
    return Deadline.after(nanos, TICKER);
  }

  final AtomicInteger sent = new AtomicInteger();
  final AtomicInteger closed = new AtomicInteger();
  final CommandCombiner combiner;
  private final int maxConnections;

  RecordingTransport(int maxBatches) {
    this(new CombinerLimits(maxBatches, AN_HOUR), Integer.MAX_VALUE);
  }

  private RecordingTransport(CombinerLimits limits, int maxConnections) {
    this.combiner = new CommandCombiner("the server", limits, this);
    this.maxConnections = maxConnections;
  }

  /** Returns a transport whose commands are late from the beginning. */
  static RecordingTransport late(int maxConnections) {
    return new RecordingTransport(new CombinerLimits(0, 0), maxConnections);
  }

  @Override
  public int maxConnections() {
    return maxConnections;
  }

  @Override
  public void send(PendingCommand first, Consumer<List<PendingCommand>> others)
      throws CommandException {
    if (closed.get() > 0) {
      closed.decrementAndGet();
      throw new CommandException(Kind.UNREACHABLE, false, "closed", null);
    }
    answer(first);
    List<PendingCommand> batch = Interleavings.list();
    others.accept(batch);
    batch.forEach(this::answer);
  }

  private void answer(PendingCommand pending) {
    assertFalse(pending.isAnswered());
    sent.incrementAndGet();
    pending.answer(new Reply(pending, null, null));
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
    PendingCommand pending = new PendingCommand(PING, 100, after(nanos));
    assertEquals(pending, combiner.submit(pending).value());
  }
}
