package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The releases of this client that have notified a waiter. A release notifies one waiter alone. If
 * that one does not come, because its process is suspended or has died, the lock would stay free
 * beside others that wait. So a moment later the client that has released looks: if the lock is
 * still free, the next one is notified, and so on.
 *
 * <p>The look is not needed when an attempt of this client, sent after the release, has found the
 * lock held: the end of that hold notifies the next one. If the releasing client dies before the
 * look, the other waiters attempt by themselves, after 5 s at the latest.
 *
 * <p><b>Threads.</b> Any thread may call any method; a worker looks. Of each lock the last check
 * counts. A check that is replaced or not needed is cancelled; one that runs at the same time does
 * no harm, because the script looks again.
 */
public final class NotifiedWaiters {
  private static final Logger LOG = LoggerFactory.getLogger(NotifiedWaiters.class);

  /** How long a notified waiter has to come. */
  private static final long CHECK_NANOS = 25_000_000L;

  private final ScriptExecutor commands;
  private final BackgroundTasks tasks;
  private final Ticker ticker;
  private final Map<LockName, Check> checks = new ConcurrentHashMap<>();

  public NotifiedWaiters(ScriptExecutor commands, BackgroundTasks tasks, Ticker ticker) {
    this.commands = commands;
    this.tasks = tasks;
    this.ticker = ticker;
  }

  /** Expects a waiter to come. */
  void onNotified(NotifyingProtocol lock) {
    Check check = new Check(lock);
    Check previous = checks.put(lock.name(), check);
    if (previous != null) {
      previous.cancel();
    }
    check.schedule();
  }

  /**
   * An attempt has found the lock held, or acquired it.
   *
   * @param sentNanos the time before it was sent
   */
  void onHeld(LockProtocol lock, long sentNanos) {
    if (!checks.isEmpty()) {
      Check check = checks.get(lock.name());
      if (check != null && sentNanos - check.sinceNanos >= 0) {
        check.cancel();
      }
    }
  }

  private final class Check implements Runnable {
    final long sinceNanos = ticker.read();
    private final NotifyingProtocol lock;
    private volatile boolean cancelled;
    private volatile @Nullable Runnable cancelTask;

    Check(NotifyingProtocol lock) {
      this.lock = lock;
    }

    void schedule() {
      try {
        cancelTask = tasks.schedule(this, CHECK_NANOS);
      } catch (RejectedExecutionException closed) {
        cancel();
      }
      if (cancelled) {
        cancel(); // before the task was known
      }
    }

    void cancel() {
      cancelled = true;
      checks.remove(lock.name(), this);
      Runnable cancel = cancelTask;
      if (cancel != null) {
        cancel.run();
      }
    }

    @Override
    public void run() {
      if (cancelled) {
        return;
      }
      checks.remove(lock.name(), this);
      try {
        if ((Long) commands.run(lock.notifyNext()).value() == 1) {
          onNotified(lock);
        }
      } catch (CommandException fault) {
        LOG.debug("lock '{}': its waiters look by themselves", lock.name(), fault);
      }
    }
  }
}
