package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The holds of one client, and the epoch in which they were last beyond doubt.
 *
 * <p><b>The epoch</b> goes up whenever something may have happened to the holds of this client: a
 * broken connection, another server, a forced release. It travels with a grant from before the
 * request, so that a hold which is just being granted, or passes from thread to thread, is not
 * overlooked.
 *
 * <p><b>Threads.</b> May be called by any thread. A hold is registered <em>before</em> the second
 * look at the epoch, and whoever ends an epoch does so <em>before</em> the look at the holds: one
 * of the two sees the other.
 */
public final class HoldRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(HoldRegistry.class);
  private static final long PAUSE_NANOS = 100_000_000L;

  private final Scheduler scheduler;
  private final ScriptExecutor commands;
  private final BackgroundTasks tasks;
  private final ClosingState closing;
  private final Ticker ticker;
  private final AtomicLong epoch = new AtomicLong();

  /** When a broken connection last had the holds verified. */
  private final AtomicLong brokenNanos;

  /** Whether they will be verified once more when the pause after that is over. */
  private final AtomicBoolean verifiesLater = new AtomicBoolean();

  public HoldRegistry(
      Scheduler scheduler,
      ScriptExecutor commands,
      BackgroundTasks tasks,
      ClosingState closing,
      Ticker ticker) {
    this.scheduler = scheduler;
    this.commands = commands;
    this.tasks = tasks;
    this.closing = closing;
    this.ticker = ticker;
    this.brokenNanos = new AtomicLong(ticker.read() - PAUSE_NANOS);
  }

  /**
   * Registers a hold, so that whoever looks at the client's holds sees it; unless something may
   * have happened to them that this one was not yet seen by.
   *
   * @param sentEpoch the epoch from before the request that granted it
   * @return false when the epoch is another: then it is not registered, and nobody has it
   * @throws LockException if the client was closed; it is released then
   */
  public boolean register(RedisLease lease, long sentEpoch) {
    if (sentEpoch != epoch()) {
      return false;
    }
    scheduler.add(lease.renewal());
    if (closing.isClosed()) {
      refuse(lease);
    }
    if (sentEpoch == epoch()) {
      return true;
    }
    // The holds may have been looked at before this one was there, or after.
    scheduler.remove(lease.renewal());
    lease.end().discard();
    return false;
  }

  private void refuse(RedisLease lease) {
    if (lease
        .end()
        .lose(Reason.CLIENT_CLOSED, ticker.read(), "its client was closed at that moment")) {
      scheduler.remove(lease.renewal());
      try {
        var unused = commands.run(lease.releaseCall());
      } catch (CommandException fault) {
        LOG.warn("{}: could not be released at closing", lease, fault);
      }
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED,
          "lock '" + lease.lockName() + "': its client was closed",
          null);
    }
  }

  /** Nobody looks after it any more. */
  public void forget(RedisLease lease) {
    scheduler.remove(lease.renewal());
  }

  /** What is held, and what was lost and has still to be unlocked by its thread. */
  public List<RedisLease> all() {
    return scheduler.entries(LeaseRenewal.class).stream().map(LeaseRenewal::lease).toList();
  }

  public long epoch() {
    return epoch.get();
  }

  /** To be called before the holds are looked at. */
  public void endEpoch() {
    epoch.incrementAndGet();
  }

  /** Asks Redis soon whether all holds are still there. */
  public void verifyAll() {
    endEpoch();
    for (RedisLease lease : all()) {
      lease.renewal().requestVerification();
    }
  }

  /**
   * The server may have restarted: holds are verified, but not once for each connection. What
   * happens during the pause after that is looked at when the pause is over.
   */
  public void connectionBroke() {
    long now = ticker.read();
    long last = brokenNanos.get();
    if (now - last > PAUSE_NANOS && brokenNanos.compareAndSet(last, now)) {
      verifyAll();
      return;
    }
    endEpoch(); // at once, so that nothing passes on or is joined meanwhile
    if (!closing.isClosed() && verifiesLater.compareAndSet(false, true)) {
      boolean added = false;
      try {
        var unused = tasks.schedule(this::verifyAfterPause, last + PAUSE_NANOS - now);
        added = true;
      } finally {
        if (!added) {
          verifiesLater.set(false);
        }
      }
    }
  }

  private void verifyAfterPause() {
    verifiesLater.set(false); // before the look, so that what happens after it begins the next
    brokenNanos.set(ticker.read());
    verifyAll();
  }
}
