package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LockException;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases in the background what may be held although nobody has it: an attempt whose answer is
 * missing, a release that Redis did not confirm.
 *
 * <p>An attempt that timed out here may still be on its way, so "you hold nothing" is no proof
 * then: the release is repeated until it says "released", once for each attempt in doubt, or the
 * time is over after which Redis would have ended the hold itself. A hold that only a renewal may
 * have lengthened needs one release that is answered, because a renewal makes no hold. A release
 * can hit nobody else, because it names the one acquisition.
 *
 * <p><b>What is not covered:</b> an attempt that reaches the server later than its own lease after
 * it was sent makes a hold that nobody knows of; that one ends with its lease.
 */
public final class BackgroundReleaser {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundReleaser.class);
  private static final long FIRST_PAUSE_NANOS = 50_000_000L;
  private static final long MOST_PAUSE_NANOS = 1_000_000_000L;
  private static final DoubleSupplier RANDOM = Math::random;

  static {
    // A stack that overflowed under an attempt has room for the release, not for loading its class.
    try {
      var unused = Class.forName(Task.class.getName(), true, Task.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private final ScriptExecutor commands;
  private final Scheduler scheduler;
  private final BackgroundTasks tasks;
  private final ClosingState closing;
  private final Ticker ticker;
  private final Set<Task> pending = ConcurrentHashMap.newKeySet();

  public BackgroundReleaser(
      ScriptExecutor commands,
      Scheduler scheduler,
      BackgroundTasks tasks,
      ClosingState closing,
      Ticker ticker) {
    this.commands = commands;
    this.scheduler = scheduler;
    this.tasks = tasks;
    this.closing = closing;
    this.ticker = ticker;
  }

  /**
   * Gives up all that the acquisition may have. The scheduler passes the release to a worker at
   * once: that takes less stack and memory here than to start a thread, and this is called where an
   * error has just left little of both.
   */
  public void releaseUntilConfirmed(
      LockProtocol protocol, String holder, UnansweredAttempts doubt) {
    Task task = new Task(protocol, holder, doubt);
    pending.add(task);
    if (!closing.isClosed()) { // otherwise whoever closes the client takes all at once
      scheduler.add(task);
    }
  }

  /** Releases a hold that was to pass on, and is not wanted: in the background if not in time. */
  public void releaseNow(LockProtocol protocol, TransferableHold hold, long withinNanos) {
    boolean released = false;
    try {
      var unused = commands.run(protocol.release(hold.holder()), withinNanos);
      released = true;
    } catch (CommandException fault) {
      LOG.debug("lock '{}': released in the background", protocol.name(), fault);
    } finally {
      if (!released) {
        releaseInBackground(protocol, hold);
      }
    }
  }

  /** The same in the background. */
  public void releaseInBackground(LockProtocol protocol, TransferableHold hold) {
    long end = ticker.read() + hold.leaseMillis() * 1_000_000;
    releaseUntilConfirmed(protocol, hold.holder(), UnansweredAttempts.NONE.held(end));
  }

  /** What the caller of a release gets when Redis did not confirm it. */
  LockException unconfirmedException(LockName name, CommandException fault, long leaseEndNanos) {
    long left = Math.max(0, leaseEndNanos - ticker.read()) / 1_000_000;
    return LockExceptions.from(
        fault,
        name,
        ("the release could not be confirmed; it is repeated in the background, and the lease runs"
                + " out in %d ms at the latest")
            .formatted(left));
  }

  /**
   * What the caller of a release gets that had to be repeated and found nothing: an error when
   * another server answered than was asked first, or the same after a restart. Otherwise null: a
   * server that lives has not forgotten the hold, so the first try has released it.
   */
  @Nullable LockException inDoubtException(LockName name, Reply reply) {
    return reply.isFromSameServer()
        ? null
        : new LockException(
            LockException.Reason.IN_DOUBT,
            ("lock '%s': the release had to be repeated and found nothing, at a server that has"
                    + " restarted or taken the place of another meanwhile. Either the first try"
                    + " released it; or it was lost with the data of that server, and somebody else"
                    + " may have had the lock at the same time: compare fencing tokens")
                .formatted(name),
            reply.before());
  }

  public int size() {
    return pending.size();
  }

  /** Takes out all that is pending, to be tried once more; for a client that is being closed. */
  public List<ScriptCall> takeAll() {
    List<ScriptCall> calls = new ArrayList<>();
    for (Task task : List.copyOf(pending)) {
      if (pending.remove(task)) {
        calls.add(task.protocol.leave(task.holder));
      }
    }
    return calls;
  }

  /** What came of one try. */
  private enum Tried {
    RELEASED,
    NOTHING_THERE,
    UNANSWERED
  }

  private final class Task implements Runnable, Scheduler.ScheduledTask {
    private final LockProtocol protocol;
    private final String holder;
    private final long untilNanos;

    /** Whether attempts may still take effect: then "nothing there" is no proof. */
    private final boolean unanswered;

    /** How often there may be something to release. One run happens before the next. */
    private int open;

    private final Backoff backoff = new Backoff(FIRST_PAUSE_NANOS, MOST_PAUSE_NANOS, RANDOM);
    private volatile long dueNanos = ticker.read();

    Task(LockProtocol protocol, String holder, UnansweredAttempts doubt) {
      this.protocol = protocol;
      this.holder = holder;
      this.untilNanos = doubt.untilNanos();
      this.unanswered = doubt.attempts() > 0;
      this.open = doubt.attempts() + (doubt.held() ? 1 : 0);
    }

    @Override
    public void run() {
      if (!pending.contains(this)) {
        return;
      }
      boolean over = false;
      try {
        over = isOverAfter(release(commands.timeoutNanos()));
      } finally { // an error is no answer
        if (over) {
          pending.remove(this);
        } else {
          dueNanos = ticker.read() + backoff.nextNanos();
          scheduler.add(this);
        }
      }
    }

    private boolean isOverAfter(Tried came) {
      if (came == Tried.RELEASED) {
        open--;
      }
      return open <= 0
          || (came != Tried.UNANSWERED && !unanswered)
          || ticker.read() - untilNanos >= 0;
    }

    private Tried release(long withinNanos) {
      try {
        Reply reply = commands.run(protocol.leave(holder), withinNanos);
        return (Long) ((List<?>) reply.value()).get(0) != 0 ? Tried.RELEASED : Tried.NOTHING_THERE;
      } catch (CommandException fault) {
        LOG.debug("lock '{}': a release has to be repeated", protocol.name(), fault);
        return fault.kind().isTransient() ? Tried.UNANSWERED : Tried.RELEASED;
      } catch (RuntimeException unreadable) {
        // It must not end the repetition, nor keep the client from closing.
        LOG.error("the answer to a release of '{}' is odd", protocol.name(), unreadable);
        return Tried.UNANSWERED;
      }
    }

    @Override
    public long dueNanos() {
      return dueNanos;
    }

    @Override
    public void onDue(long nowNanos) {
      scheduler.remove(this);
      tasks.run(this);
    }
  }
}
