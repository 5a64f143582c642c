package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ScheduledTask;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Completes, on a worker, the acquisitions and releases that an error has interrupted.
 *
 * <p>An operation is entered here before it begins, and taken back when it has ended. Where an
 * error ends it, such as a stack that overflows or a heap that is full, even a call may fail. Then
 * the last act of its thread is to set a flag, which needs neither stack nor memory. The scheduler
 * looks for flags every two seconds while any operation is entered, and a worker does the rest. The
 * operation stays entered until it is complete, so that an error on the worker costs another look,
 * and nothing has to be allocated for it.
 *
 * <p><b>Threads.</b> Any thread may enter an operation and take it back. The flag of an operation
 * is volatile and is set last, so the worker that sees it sees all that was done before, and no
 * other thread works on it any more; of several workers one claims it. {@code begin} enters the
 * operation <em>before</em> it reads {@code armed}; the scheduler clears {@code armed}
 * <em>before</em> it looks whether any is entered. One of the two sees the other.
 */
public final class Completions implements ScheduledTask {
  private static final long LOOK_NANOS = 2_000_000_000L;
  private static final long IDLE_NANOS = 3_600_000_000_000L;

  /** An acquisition or a release. */
  public interface Operation {
    /** Returns the flag: whether an error has kept its thread from completing it. */
    boolean isBroken();

    /** Completes the operation. May be called again if it throws. */
    void complete();
  }

  private final Consumer<ScheduledTask> reschedule;
  private final Consumer<Runnable> worker;
  private final Ticker ticker;

  /** Each with whether a worker has claimed it. */
  private final Map<Operation, Boolean> operations = new ConcurrentHashMap<>();

  private volatile boolean armed;
  private volatile long dueNanos;

  /**
   * Becomes a housekeeping task of the scheduler, for as long as the client lives.
   *
   * @param reschedule notifies the scheduler that a task has become due earlier
   * @param worker runs a task on a worker
   */
  public Completions(Consumer<ScheduledTask> reschedule, Consumer<Runnable> worker, Ticker ticker) {
    this.reschedule = reschedule;
    this.worker = worker;
    this.ticker = ticker;
    this.dueNanos = ticker.read() + IDLE_NANOS;
  }

  /** Enters an operation, before it begins, or when an error has kept it from being entered. */
  public void begin(Operation operation) {
    operations.putIfAbsent(operation, false);
    if (!armed) {
      armed = true;
      try {
        dueNanos = ticker.read() + LOOK_NANOS;
        reschedule.accept(this);
      } catch (Throwable e) {
        armed = false; // the next operation does it
        throw e;
      }
    }
  }

  /** Takes an operation back: it is complete. */
  public void end(Operation operation) {
    operations.remove(operation);
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    armed = false;
    dueNanos = nowNanos + LOOK_NANOS; // should an error end this look
    boolean empty = true;
    for (Map.Entry<Operation, Boolean> entry : operations.entrySet()) {
      Operation operation = entry.getKey();
      empty = false;
      if (operation.isBroken() && !entry.getValue()) {
        worker.accept(() -> complete(operation));
      }
    }
    dueNanos = nowNanos + (empty ? IDLE_NANOS : LOOK_NANOS);
    armed = !empty; // not before: a thread that finds it cleared sets an earlier time
    if (empty && !operations.isEmpty()) { // one that came meanwhile
      armed = true;
      dueNanos = nowNanos + LOOK_NANOS;
    }
  }

  private void complete(Operation operation) {
    if (!operations.replace(operation, false, true)) {
      return; // another worker has it, or it is complete
    }
    boolean done = false;
    try {
      operation.complete();
      done = true;
    } finally {
      if (done) {
        end(operation);
      } else {
        operations.replace(operation, true, false);
      }
    }
  }
}
