package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * The record that a client writes of itself in Redis, so that other clients can show who holds a
 * lock: the key {@code mortise_client:<client id>}.
 *
 * <p>It is written when locks have been in use for {@link #FIRST_NANOS}, again while they are used,
 * and removed when the client is closed. A client that starts sends nothing for it, and one that
 * lives for a few seconds never does. The record of a client that was killed ends with its life.
 * Locking does not depend on it: it is written by a worker, a failure is tried again, and a refusal
 * is the end of it.
 *
 * <p><b>Threads.</b> Any thread may call {@link #used}; the scheduler's thread calls {@link
 * #onDue}, a worker writes, and the closing thread removes. A use is not missed, because the order
 * is "publish, then look": {@code used} sets its flag <em>before</em> it reads {@code dormant}, and
 * {@code onDue} sets {@code dormant} <em>before</em> it reads the flag a second time.
 */
public final class ClientRecord implements ScheduledTask {
  private static final Logger LOG = LoggerFactory.getLogger(ClientRecord.class);

  /** From the first use to the record, and from a failure to the next attempt. */
  static final long FIRST_NANOS = 10_000_000_000L;

  /** From one writing to the next, while locks are used. */
  static final long INTERVAL_NANOS = 200_000_000_000L;

  private static final long AFTER_REFUSAL_NANOS = 3 * INTERVAL_NANOS;

  /** The life of the record, from its last writing. */
  static final long LIFE_MILLIS = 600_000;

  private static final long NEVER_NANOS = Long.MAX_VALUE / 4;

  private final byte[] key;
  private final ProcessFacts facts;
  private final ScriptExecutor commands;
  private final Scheduler scheduler;
  private final BackgroundTasks tasks;
  private final OperationCounter operations;
  private final ClosingState closing;
  private final Ticker ticker;
  private final BooleanSupplier inUse;
  private final AtomicBoolean dormant = new AtomicBoolean(true);
  private volatile boolean used;
  private volatile boolean written;
  private volatile long dueNanos;

  /**
   * @param started when the client was made, by the clock of this process
   * @param inUse tests whether the client holds or waits for a lock
   */
  public ClientRecord(
      String clientId,
      Instant started,
      ScriptExecutor commands,
      Scheduler scheduler,
      BackgroundTasks tasks,
      OperationCounter operations,
      ClosingState closing,
      Ticker ticker,
      BooleanSupplier inUse) {
    this.key = key(clientId);
    this.facts = ProcessFacts.ofThisProcess(started);
    this.commands = commands;
    this.scheduler = scheduler;
    this.tasks = tasks;
    this.operations = operations;
    this.closing = closing;
    this.ticker = ticker;
    this.inUse = inUse;
    this.dueNanos = ticker.read() + NEVER_NANOS;
  }

  static byte[] key(String clientId) {
    return bytes("mortise_client:" + clientId);
  }

  /** Returns what the record says. */
  ProcessFacts facts() {
    return facts;
  }

  /** Notes that an acquisition begins. */
  public void used() {
    if (!used) {
      used = true;
    }
    if (dormant.get()) {
      wake();
    }
  }

  private void wake() {
    if (dormant.compareAndSet(true, false)) {
      dueIn(FIRST_NANOS);
    }
  }

  private void dueIn(long nanos) {
    dueNanos = ticker.read() + nanos;
    scheduler.reschedule(this);
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    if (used || inUse.getAsBoolean()) {
      used = false; // only here: a use in the middle of this look is found below
      dueNanos = nowNanos + INTERVAL_NANOS;
      tasks.run(this::write);
      return;
    }
    dueNanos = nowNanos + NEVER_NANOS;
    dormant.set(true);
    if (used) {
      wake();
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
      dueIn(FIRST_NANOS);
    } else { // refused: the user may get the right later
      written = false;
      dueIn(AFTER_REFUSAL_NANOS);
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
