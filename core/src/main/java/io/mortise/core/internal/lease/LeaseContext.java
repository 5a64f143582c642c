package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.event.EventContext;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import java.util.function.DoubleSupplier;

/**
 * The services that every hold of one client needs, created once when the client is wired.
 *
 * @param jitter returns random values from 0 inclusive to 1 exclusive
 * @param operations counts the acquisitions and releases that are under way
 * @param notifications run the notifications of the changes of holds
 * @param holds all holds of the client
 * @param completions completes operations that an error has interrupted
 * @param releases releases holds that may exist in Redis without a holder in this client
 * @param observer observes releases
 * @param failedRenewals logs renewals that fail
 * @param events for the events of acquisitions and holds
 */
public record LeaseContext(
    LockOptions options,
    ClockDrift drift,
    Ticker ticker,
    DoubleSupplier jitter,
    ClosingState closing,
    OperationCounter operations,
    ScriptExecutor commands,
    BatchCollector batches,
    Scheduler scheduler,
    BackgroundTasks tasks,
    NotificationWorkers notifications,
    HoldRegistry holds,
    Completions completions,
    BackgroundReleaser releases,
    ReleaseObserver observer,
    FailedRenewals failedRenewals,
    EventContext events) {
  /** Writes a line of the log soon, on a worker: a log may block. */
  void log(Runnable line) {
    notifications.logs().execute(line);
  }

  public long nanos() {
    return ticker.read();
  }

  public double random() {
    return jitter.getAsDouble();
  }

  /** Returns the end of a lease of these terms that begins now. */
  public long leaseFromNow(LeaseTerms terms) {
    return nanos() + terms.leaseMillis() * 1_000_000;
  }

  public boolean isClosed() {
    return closing.isClosed();
  }

  public void ensureOpen(LockName name) {
    if (closing.isClosed()) {
      throw LockExceptions.clientClosed(name);
    }
  }
}
