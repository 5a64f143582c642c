package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Scheduler;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Completes, on a worker, the acquisitions and releases that an error has interrupted.
 *
 * <p>An operation is entered here before it begins, and taken back when it has ended. Where an
 * error ends it, such as a stack that overflows or a heap that is full, even a call may fail. Then
 * the last act of its thread is to set a flag, which needs neither stack nor memory. The scheduler
 * looks for flags every two seconds while any operation is entered, and a worker does the rest.
 *
 * <p><b>Threads.</b> Any thread may enter an operation and take it back. The flag of an operation
 * is volatile and is set last, so the worker that sees it sees all that was done before, and no
 * other thread works on it any more. {@code begin} enters the operation <em>before</em> it reads
 * {@code armed}; the scheduler clears {@code armed} <em>before</em> it looks whether the set is
 * empty. One of the two sees the other.
 */
public final class Completions implements Scheduler.ScheduledTask {
  private static final long LOOK_NANOS = 2_000_000_000L;
  private static final long IDLE_NANOS = 3_600_000_000_000L;

  /** An acquisition or a release. */
  public interface Operation {
    /** Returns the flag: whether an error has kept its thread from completing it. */
    boolean isBroken();

    /** Does what is still to be done. May be called again if it throws. */
    void complete();
  }

  private final LongConsumer wakeBy;
  private final Consumer<Runnable> worker;
  private final Ticker ticker;
  private final Set<Operation> operations = ConcurrentHashMap.newKeySet();
  private volatile boolean armed;
  private volatile long dueNanos;

  /**
   * Becomes an entry of the scheduler, for as long as the client lives.
   *
   * @param wakeBy wakes the scheduler by that time
   * @param worker runs a task on a worker
   */
  public Completions(LongConsumer wakeBy, Consumer<Runnable> worker, Ticker ticker) {
    this.wakeBy = wakeBy;
    this.worker = worker;
    this.ticker = ticker;
    this.dueNanos = ticker.read() + IDLE_NANOS;
  }

  /** Enters an operation, before it begins. */
  public void begin(Operation operation) {
    operations.add(operation);
    if (!armed) {
      armed = true;
      dueNanos = ticker.read() + LOOK_NANOS;
      wakeBy.accept(dueNanos);
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
    boolean empty = true;
    for (Operation operation : operations) {
      empty = false;
      if (operation.isBroken()) {
        end(operation);
        worker.accept(() -> complete(operation));
      }
    }
    armed = !empty;
    dueNanos = nowNanos + (empty ? IDLE_NANOS : LOOK_NANOS);
    if (empty && !operations.isEmpty()) { // one that came meanwhile
      armed = true;
      dueNanos = nowNanos + LOOK_NANOS;
    }
  }

  private void complete(Operation operation) {
    boolean done = false;
    try {
      operation.complete();
      done = true;
    } finally {
      if (!done) {
        begin(operation);
      }
    }
  }
}
