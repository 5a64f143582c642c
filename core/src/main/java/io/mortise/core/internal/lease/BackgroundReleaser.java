package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases in the background holds that may exist in Redis without a holder in this client: after
 * an attempt without a reply, or a release that Redis did not confirm.
 *
 * <p>Example: client A sends an attempt, which times out but is still on its way to the server. A
 * sends a release, and Redis says "not found". That is no proof, because the attempt may arrive
 * after it. The rule: the release is repeated until it says "released" once for each unanswered
 * attempt, or until the time at which Redis would have ended the hold itself. A hold that only a
 * renewal may have extended needs one release that is answered, because a renewal creates no hold.
 * A release cannot end the hold of another acquisition, because it names the holder id.
 *
 * <p><b>How often.</b> Every second while there is no answer, because an outage may end. While it
 * finds nothing, more and more seldom: otherwise a lease of days would cost a command a second. At
 * most {@value ReleaseWorkers#MAX_WORKERS} run at a time for each server: a client may have lost
 * ten thousand holds at a silent one. As soon as that answers, the releases follow each other
 * without a pause.
 *
 * <p><b>Not covered:</b> an attempt that reaches the server later than its own lease after it was
 * sent creates a hold that no client knows of; that hold ends with its lease.
 *
 * <p><b>A full heap.</b> A pending task stays in the scheduler, so an error on any worker costs a
 * pause, and nothing has to be allocated for another run.
 *
 * <p><b>Threads.</b> Any thread may call any method. A task runs on one worker at a time, by its
 * {@code state}; one that waits for a worker ends with its time too. A task is pending
 * <em>before</em> the look whether the client is closed. If it is closed, the closing thread takes
 * the task, by {@link #takeAll}. A task that comes after the last of these is given up: {@link
 * #stop} sets {@code stopped} and then looks at all tasks, a new task is pending and then looks at
 * {@code stopped}, so one of both sees it.
 */
public final class BackgroundReleaser {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundReleaser.class);
  private static final long FIRST_PAUSE_NANOS = 50_000_000L;
  private static final long MAX_PAUSE_NANOS = 1_000_000_000L;

  /** A release that finds nothing is repeated after this part of the time since it does. */
  private static final int PASSED_PART = 32;

  private final ScriptExecutor commands;
  private final Scheduler scheduler;
  private final ReleaseWorkers workers;
  private final ClosingState closing;
  private final Ticker ticker;
  private final DoubleSupplier jitter;
  private final ReleaseObserver observer;
  private final Set<Task> pending = ConcurrentHashMap.newKeySet();
  private volatile boolean stopped;

  public BackgroundReleaser(
      ScriptExecutor commands,
      Scheduler scheduler,
      BackgroundTasks tasks,
      ClosingState closing,
      Ticker ticker,
      DoubleSupplier jitter,
      ReleaseObserver observer) {
    this.commands = commands;
    this.scheduler = scheduler;
    this.workers = new ReleaseWorkers(commands, tasks::run);
    this.closing = closing;
    this.ticker = ticker;
    this.jitter = jitter;
    this.observer = observer;
  }

  /** Releases everything that the acquisition may have in Redis. */
  public void releaseUntilConfirmed(
      LockProtocol protocol, String holder, UnansweredAttempts unanswered) {
    releaseUntilConfirmed(protocol, holder, unanswered, new MinimumEnd());
  }

  /**
   * @param minimum until when the hold keeps the lock busy; removed once Redis has answered, so
   *     that what a late attempt creates after that is released at once
   */
  void releaseUntilConfirmed(
      LockProtocol protocol, String holder, UnansweredAttempts unanswered, MinimumEnd minimum) {
    Task task = new Task(protocol, holder, unanswered, minimum);
    pending.add(task);
    if (!closing.isClosed()) { // otherwise the closing thread takes all tasks at once
      try {
        scheduler.add(task);
        task.request();
      } catch (Throwable e) { // an error: its caller asks again, see Completions
        task.end();
        throw e;
      }
    } else if (stopped) {
      giveUp(task);
    }
  }

  /** Releases a hold that was offered for a hand-off; in the background if the timeout passes. */
  public void releaseNow(LockProtocol protocol, TransferableHold hold, long timeoutNanos) {
    boolean released = false;
    try {
      Reply reply = commands.run(protocol.release(hold.holder()), timeoutNanos);
      released = true;
      observer.replied(protocol, hold.holder(), (List<?>) reply.value());
    } catch (CommandException fault) {
      LOG.debug("lock '{}': released in the background", protocol.name(), fault);
    } finally {
      if (!released) {
        releaseInBackground(protocol, hold);
      }
    }
  }

  /** Releases a hold that was offered for a hand-off, in the background. */
  public void releaseInBackground(LockProtocol protocol, TransferableHold hold) {
    long end = ticker.read() + hold.leaseMillis() * 1_000_000;
    releaseUntilConfirmed(protocol, hold.holder(), UnansweredAttempts.NONE.plusHold(end));
  }

  public int size() {
    return pending.size();
  }

  /** Removes all pending releases and returns their calls, for the last try at the close. */
  public List<ScriptCall> takeAll() {
    List<ScriptCall> calls = new ArrayList<>();
    for (Task task : List.copyOf(pending)) {
      if (pending.remove(task)) {
        calls.add(task.call());
      }
    }
    return calls;
  }

  /** Gives up what is pending, now and later: the client is closed, and sends nothing any more. */
  public void stop() {
    stopped = true;
    pending.forEach(this::giveUp);
  }

  private void giveUp(Task task) {
    if (pending.remove(task)) {
      LOG.warn(
          "lock '{}': the client was closed while the lock was being released; it ends with its"
              + " lease at the latest",
          task.protocol.name());
    }
  }

  private enum Outcome {
    RELEASED,
    NOT_FOUND,
    UNANSWERED
  }

  private enum State {
    IDLE,
    WAITING,
    RUNNING
  }

  private final class Task implements Runnable, ScheduledTask {
    /** When a release last had no answer, or found something; initially the beginning. */
    private long sinceNanos = ticker.read();

    private final LockProtocol protocol;
    private final String holder;
    private final MinimumEnd minimum;
    private final UnansweredAttempts unanswered;

    /** The number of releases that may still find something. One run happens before the next. */
    private int releasesLeft;

    private final Backoff backoff = new Backoff(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, jitter);
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
    private volatile long dueNanos = sinceNanos + MAX_PAUSE_NANOS;

    Task(LockProtocol protocol, String holder, UnansweredAttempts unanswered, MinimumEnd minimum) {
      this.protocol = protocol;
      this.holder = holder;
      this.minimum = minimum;
      this.unanswered = unanswered;
      this.releasesLeft = unanswered.attempts() + (unanswered.mayBeHeld() ? 1 : 0);
    }

    /** Has the release run by a worker, unless it waits for one or runs. */
    void request() {
      if (state.compareAndSet(State.IDLE, State.WAITING)) {
        try {
          workers.add(protocol.leave(holder), this);
        } catch (Throwable e) {
          state.set(State.IDLE);
          throw e;
        }
      }
      workers.ensureWorkers(); // also for one that waits: no worker may have been started for it
    }

    @Override
    public void run() {
      if (!pending.contains(this) || !state.compareAndSet(State.WAITING, State.RUNNING)) {
        return;
      }
      boolean done = false;
      Outcome outcome = Outcome.UNANSWERED; // an error counts as no reply
      try {
        outcome = release();
        done = isDoneAfter(outcome);
        if (done) {
          end();
        }
      } finally {
        state.set(State.IDLE);
        if (!done) {
          long now = ticker.read();
          dueNanos = now + pauseNanos(outcome, now);
          scheduler.reschedule(this);
        }
      }
    }

    /** Returns the pause before the next release; the last one comes when Redis has ended all. */
    private long pauseNanos(Outcome outcome, long nowNanos) {
      sinceNanos = outcome == Outcome.NOT_FOUND ? sinceNanos : nowNanos;
      long leftNanos = unanswered.untilNanos() - nowNanos;
      long longPause = Math.min((nowNanos - sinceNanos) / PASSED_PART, leftNanos);
      return Math.max(backoff.nextNanos(), longPause);
    }

    private void end() {
      pending.remove(this);
      scheduler.remove(this);
    }

    private boolean isDoneAfter(Outcome outcome) {
      if (outcome == Outcome.RELEASED) {
        releasesLeft--;
      }
      boolean isProof = unanswered.attempts() == 0; // otherwise one may still take effect
      return releasesLeft <= 0
          || (outcome != Outcome.UNANSWERED && isProof)
          || ticker.read() - unanswered.untilNanos() >= 0;
    }

    ScriptCall call() {
      long restMillis = minimum.leftMillis(ticker.read());
      return restMillis > 0 ? protocol.keep(holder, restMillis) : protocol.leave(holder);
    }

    private Outcome release() {
      try {
        Reply reply = commands.run(call());
        minimum.waive();
        long answer = (Long) ((List<?>) reply.value()).get(0);
        // A hold that was forced out is none of the attempts that may still arrive.
        return answer == 0 || answer == 2 ? Outcome.NOT_FOUND : Outcome.RELEASED;
      } catch (CommandException fault) {
        LOG.debug("lock '{}': the release is repeated", protocol.name(), fault);
        return Outcome.UNANSWERED; // whatever its kind: its cause may be mended in time
      } catch (RuntimeException unreadable) {
        // It must neither end the repetition nor keep the client from closing.
        LOG.error("lock '{}': the reply to a release cannot be read", protocol.name(), unreadable);
        return Outcome.UNANSWERED;
      }
    }

    @Override
    public long dueNanos() {
      return dueNanos;
    }

    @Override
    public void onDue(long nowNanos) {
      dueNanos = nowNanos + MAX_PAUSE_NANOS; // should an error keep the worker from it
      if (state.get() == State.WAITING && nowNanos - unanswered.untilNanos() >= 0) {
        end(); // Redis has ended the hold itself by now
      } else {
        request();
      }
    }
  }
}
