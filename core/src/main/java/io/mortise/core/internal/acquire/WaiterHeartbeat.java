package io.mortise.core.internal.acquire;

import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Heartbeat;
import io.mortise.scripts.ScriptCall;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The signs of life of one acquisition that waits in a queue in Redis, sent in batches. */
public final class WaiterHeartbeat
    implements Scheduler.ScheduledTask, BatchCollector.Item, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WaiterHeartbeat.class);

  private final Scheduler scheduler;
  private final BatchCollector batches;
  private final LockProtocol protocol;
  private final String holder;
  private final Heartbeat sign;
  private final Signal wake;
  private volatile long dueNanos;

  /**
   * @param wake what the acquisition waits for
   */
  WaiterHeartbeat(
      LeaseContext context, LockProtocol protocol, String holder, Heartbeat sign, Signal wake) {
    this.scheduler = context.scheduler();
    this.batches = context.batches();
    this.protocol = protocol;
    this.holder = holder;
    this.sign = sign;
    this.wake = wake;
    this.dueNanos = context.nanos() + everyNanos();
    scheduler.add(this);
  }

  public LockProtocol protocol() {
    return protocol;
  }

  public String holder() {
    return holder;
  }

  private long everyNanos() {
    return sign.everyMillis() * 1_000_000;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  /** Of two waiters one is always within half a time of the other: all come to sign together. */
  @Override
  public long mayRunAtNanos() {
    return dueNanos - everyNanos() / 2;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + everyNanos();
    batches.add(this);
  }

  @Override
  public ScriptCall call() {
    return sign.item();
  }

  @Override
  public long withinNanos() {
    return everyNanos();
  }

  @Override
  public void onReply(long answer, long sentNanos) {
    if (answer != 1) {
      wake.fire();
    }
  }

  @Override
  public void onFailure(CommandException fault) {
    LOG.debug("a waiter's sign of life was not sent", fault);
  }

  @Override
  public void close() {
    scheduler.remove(this);
  }
}
