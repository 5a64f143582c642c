package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.pool.CommandException;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * The record that a client writes of itself in Redis, so that other clients can show who holds a
 * lock: the key {@code mortise_client:<client id>}.
 *
 * <p>The scheduler looks every {@link #PERIOD_NANOS} whether locks were used. If they were, the
 * record is written, and while they are used it is written again; it is removed when the client is
 * closed. A client that starts sends nothing for it, and one that lives for a few seconds never
 * does. The record of a client that was killed ends with its life. Locking does not depend on it:
 * it is written by a worker, and a failure or a refusal is tried again.
 *
 * <p><b>Threads.</b> The scheduler's thread calls {@link #look}, a worker writes, and the closing
 * thread removes.
 */
public final class ClientRecord {
  private static final Logger LOG = LoggerFactory.getLogger(ClientRecord.class);

  /** From one look to the next, and so from a failure to the next attempt. */
  public static final long PERIOD_NANOS = 10_000_000_000L;

  /** From one writing to the next, while locks are used. */
  static final long INTERVAL_NANOS = 200_000_000_000L;

  private static final long AFTER_REFUSAL_NANOS = 3 * INTERVAL_NANOS;

  /** The life of the record, from its last writing. */
  static final long LIFE_MILLIS = 600_000;

  private final byte[] key;
  private final ProcessFacts facts;
  private final ScriptExecutor commands;
  private final BackgroundTasks tasks;
  private final OperationCounter operations;
  private final ClosingState closing;
  private final Ticker ticker;
  private final LongSupplier acquisitions;
  private final BooleanSupplier inUse;
  private volatile boolean written;

  /** Before this time the record is not written. */
  private volatile long notBeforeNanos;

  /** The acquisitions when the record was last written; only the scheduler's thread uses it. */
  private long seenAcquisitions;

  /**
   * @param started when the client was made, by the clock of this process
   * @param acquisitions returns how many acquisitions the client has begun
   * @param inUse tests whether the client holds or waits for a lock
   */
  public ClientRecord(
      String clientId,
      Instant started,
      ScriptExecutor commands,
      BackgroundTasks tasks,
      OperationCounter operations,
      ClosingState closing,
      Ticker ticker,
      LongSupplier acquisitions,
      BooleanSupplier inUse) {
    this.key = key(clientId);
    this.facts = ProcessFacts.ofThisProcess(started);
    this.commands = commands;
    this.tasks = tasks;
    this.operations = operations;
    this.closing = closing;
    this.ticker = ticker;
    this.acquisitions = acquisitions;
    this.inUse = inUse;
    this.notBeforeNanos = ticker.read();
  }

  static byte[] key(String clientId) {
    return bytes("mortise_client:" + clientId);
  }

  /** Returns what the record says. */
  ProcessFacts facts() {
    return facts;
  }

  /** Has the record written if it is time for that. */
  public void look() {
    long nowNanos = ticker.read();
    long begun = acquisitions.getAsLong();
    if (nowNanos - notBeforeNanos >= 0 && (begun != seenAcquisitions || inUse.getAsBoolean())) {
      seenAcquisitions = begun;
      notBeforeNanos = nowNanos + INTERVAL_NANOS;
      tasks.run(this::write);
    }
  }

  /** Counts as an operation, so that the closing thread finds the record when it removes it. */
  private void write() {
    operations.begin();
    try {
      if (!closing.isClosed()) {
        written = true;
        var unused =
            commands.exchange(
                key,
                (connection, deadline) ->
                    connection.executeCommand(
                        new CommandArguments(Command.SET)
                            .add(key)
                            .add(facts.text())
                            .add("PX")
                            .add(LIFE_MILLIS)),
                commands.timeoutNanos());
      }
    } catch (CommandException fault) {
      onFailure(fault);
    } finally {
      operations.end();
    }
  }

  private void onFailure(CommandException fault) {
    LOG.debug(
        "the record of this client could not be written; other clients cannot tell its host",
        fault);
    if (fault.kind().isTransient()) {
      notBeforeNanos = ticker.read();
    } else { // refused: the user may get the right later
      written = false;
      notBeforeNanos = ticker.read() + AFTER_REFUSAL_NANOS;
    }
  }

  /** Removes the record, if there may be one and time is left. */
  public void remove(long withinNanos) {
    if (!written || withinNanos <= 0) {
      return;
    }
    try {
      var unused =
          commands.exchange(
              key,
              (connection, deadline) ->
                  connection.executeCommand(new CommandArguments(Command.DEL).add(key)),
              withinNanos);
    } catch (CommandException fault) {
      LOG.debug("the record of a closed client ends by itself", fault);
    }
  }
}
