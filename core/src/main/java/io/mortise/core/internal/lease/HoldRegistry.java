package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry of the holds of one client, with the epoch in which they were last certain.
 *
 * <p><b>The epoch</b> goes up whenever something may have happened to the holds of this client: a
 * broken connection, a failover, a forced release. A grant carries the epoch from before its
 * request, so that a hold which is just being granted, or handed from thread to thread, is not
 * overlooked.
 *
 * <p>This is "publish, then look", as in <a
 * href="https://en.wikipedia.org/wiki/Dekker%27s_algorithm">Dekker's algorithm</a>. Example: thread
 * A registers a new hold while thread B, after a broken connection, has all holds verified. A adds
 * the hold to the scheduler, then reads the epoch a second time. B ends the epoch, then reads the
 * list of holds. If B does not see the hold of A, then A sees the new epoch, and does not use its
 * hold.
 *
 * <p><b>Threads.</b> Any thread may call any method. A hold is registered <em>before</em> the
 * second read of the epoch, and a thread that ends an epoch does so <em>before</em> it reads the
 * holds: one of the two sees the other.
 */
public final class HoldRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(HoldRegistry.class);
  private static final long VERIFY_PAUSE_NANOS = 100_000_000L;

  private final Scheduler scheduler;
  private final ScriptExecutor commands;
  private final BackgroundTasks tasks;
  private final ClosingState closing;
  private final Ticker ticker;
  private final AtomicLong epoch = new AtomicLong();

  /** When a broken connection last caused a verification of the holds. */
  private final AtomicLong lastBreakNanos;

  /** Whether another verification is scheduled for the end of the pause after that. */
  private final AtomicBoolean verificationScheduled = new AtomicBoolean();

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
    this.lastBreakNanos = new AtomicLong(ticker.read() - VERIFY_PAUSE_NANOS);
  }

  /**
   * Registers a hold, so that every later check of the client's holds sees it, unless the epoch has
   * changed: then an earlier check may have missed this hold.
   *
   * @param sentEpoch the epoch from before the request that granted the hold
   * @return false when the epoch has changed: then the hold is not registered, and has no holder
   * @throws LockException if the client was closed; the hold is released then
   */
  public boolean register(RegisteredHold hold, long sentEpoch) {
    if (sentEpoch != epoch()) {
      return false;
    }
    scheduler.add(hold);
    if (closing.isClosed()) {
      refuseBecauseClosed(hold);
    }
    if (sentEpoch == epoch()) {
      return true;
    }
    // The holds may have been checked before this one was registered, or after.
    scheduler.remove(hold);
    hold.discard();
    return false;
  }

  /** The closing thread may have found the hold, and lost it: then it releases it too. */
  private void refuseBecauseClosed(RegisteredHold hold) {
    if (hold.lose(Reason.CLIENT_CLOSED, ticker.read(), "its client was closed at that moment")) {
      scheduler.remove(hold);
      try {
        var unused = commands.run(hold.releaseCall());
      } catch (CommandException fault) {
        LOG.warn("{}: could not be released when its client was closed", hold, fault);
      }
    }
    throw LockExceptions.clientClosed(hold.lockName());
  }

  /** Removes a hold from the registry: it is neither renewed nor verified any more. */
  public void forget(RegisteredHold hold) {
    scheduler.remove(hold);
  }

  /** Returns the holds, and the lost ones of which listeners have still to be notified. */
  public List<RegisteredHold> all() {
    return scheduler.entries(RegisteredHold.class);
  }

  /**
   * Ends all holds as lost, because the client is closed; returns the calls that release them. A
   * hold whose owner is already releasing it is left to its owner.
   */
  public List<ScriptCall> loseAll() {
    List<ScriptCall> releases = new ArrayList<>();
    for (RegisteredHold hold : all()) {
      if (hold.lose(
          Reason.CLIENT_CLOSED, ticker.read(), "its client was closed while it was held")) {
        releases.add(hold.releaseCall());
      }
    }
    return releases;
  }

  public long epoch() {
    return epoch.get();
  }

  /** Ends the epoch. Must be called before the holds are read. */
  public void endEpoch() {
    epoch.incrementAndGet();
  }

  /** Ends the epoch and requests the verification of all holds. */
  public void verifyAll() {
    endEpoch();
    all().forEach(RegisteredHold::requestVerification);
  }

  /** Has the holds verified after the wall clock has advanced further than the client's. */
  public void clockJumped(long millis) {
    verifyAll();
    tasks.run(
        () ->
            LOG.info(
                "the wall clock advanced {} ms more than the monotonic one: this machine was"
                    + " suspended, or its clock was set; all holds are verified",
                millis));
  }

  /**
   * Has the holds verified after a broken connection, because the server may have restarted, but at
   * most once per pause, not once per connection. A break during the pause has the holds verified
   * at its end.
   */
  public void connectionBroke() {
    long now = ticker.read();
    long last = lastBreakNanos.get();
    if (now - last > VERIFY_PAUSE_NANOS && lastBreakNanos.compareAndSet(last, now)) {
      verifyAll();
      return;
    }
    endEpoch(); // at once, so that no hold is handed off or joined until then
    if (verificationScheduled.compareAndSet(false, true)) {
      boolean scheduled = false;
      try {
        var unused = tasks.schedule(this::verifyAfterPause, last + VERIFY_PAUSE_NANOS - now);
        scheduled = true;
      } catch (RejectedExecutionException closed) {
        // All holds of a closed client are lost or released. The caller's command goes on.
      } finally {
        if (!scheduled) {
          verificationScheduled.set(false);
        }
      }
    }
  }

  private void verifyAfterPause() {
    verificationScheduled.set(false); // first, so that a later break schedules the next one
    lastBreakNanos.set(ticker.read());
    verifyAll();
  }
}
