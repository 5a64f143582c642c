package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.BatchItem;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.QueueingProtocol.Heartbeat;
import io.mortise.scripts.ScriptCall;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The heartbeat of one acquisition that waits in a queue in Redis, sent in batches.
 *
 * <p><b>Threads.</b> The waiting thread creates and closes it, the scheduler calls {@link #onDue},
 * a worker delivers the replies.
 */
public final class WaiterHeartbeat implements ScheduledTask, BatchItem, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WaiterHeartbeat.class);

  private final Scheduler scheduler;
  private final BatchCollector batches;
  private final LockProtocol protocol;
  private final String holder;
  private final Heartbeat heartbeat;
  private final Signal wake;
  private volatile long dueNanos;

  /** Whether it waits to be sent. */
  private volatile boolean queued;

  private volatile boolean closed;

  /**
   * @param wake the signal that the acquisition awaits
   */
  WaiterHeartbeat(
      Scheduler scheduler,
      BatchCollector batches,
      Ticker ticker,
      QueueingProtocol protocol,
      String holder,
      Signal wake) {
    this.scheduler = scheduler;
    this.batches = batches;
    this.protocol = protocol;
    this.holder = holder;
    this.heartbeat = protocol.heartbeat(holder);
    this.wake = wake;
    this.dueNanos = ticker.read() + intervalNanos();
    scheduler.add(this);
  }

  public LockProtocol protocol() {
    return protocol;
  }

  public String holder() {
    return holder;
  }

  private long intervalNanos() {
    return heartbeat.everyMillis() * 1_000_000;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  /**
   * Lets a heartbeat join the current batch in the second half of its interval. Of two waiters, one
   * is always due within half an interval of the other, so their heartbeats come to be sent
   * together.
   */
  @Override
  public long mayRunAtNanos() {
    return dueNanos - intervalNanos() / 2;
  }

  /** Sends a heartbeat, unless the last one waits to be sent: then there is too much to send. */
  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + intervalNanos();
    if (!queued) {
      queued = true;
      try {
        batches.add(this);
      } catch (Throwable e) {
        queued = false;
        throw e;
      }
    }
  }

  @Override
  public ScriptCall call() {
    return heartbeat.item();
  }

  /** The next one does not wait for the answer: the connection may be silent. */
  @Override
  public ScriptCall callToSend(ScriptCall added) {
    queued = false;
    return added;
  }

  @Override
  public boolean isWanted() {
    return !closed;
  }

  @Override
  public long deadlineNanos() {
    return dueNanos;
  }

  @Override
  public long withinNanos() {
    return intervalNanos();
  }

  @Override
  public void onReply(long answer, long sentNanos) {
    if (answer != 1) {
      wake.fire();
    }
  }

  @Override
  public void onFailure(CommandException fault) {
    queued = false;
    LOG.debug("a waiter's heartbeat was not sent", fault);
  }

  @Override
  public void close() {
    closed = true;
    scheduler.remove(this);
  }
}
