package io.mortise.core.internal.lease;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Completes, on a worker, the acquisitions and releases that an error has interrupted.
 *
 * <p>An operation is entered here before it begins, and taken back when it has ended. Where an
 * error ends it, such as a stack that overflows or a heap that is full, even a call may fail. Then
 * the last act of its thread is to set a flag, which needs neither stack nor memory. The scheduler
 * looks for flags every two seconds, and a worker does the rest. The operation stays entered until
 * it is complete, so that an error on the worker costs another look, and nothing has to be
 * allocated for it.
 *
 * <p><b>Threads.</b> Any thread may enter an operation and take it back. The flag of an operation
 * is volatile and is set last, so the worker that sees it sees all that was done before, and no
 * other thread works on it any more; of several workers one claims it.
 */
public final class Completions {
  /** The time from one {@link #look} to the next. */
  public static final long PERIOD_NANOS = 2_000_000_000L;

  /** An acquisition or a release. */
  public interface Operation {
    /** Returns the flag: whether an error has kept its thread from completing it. */
    boolean isBroken();

    /** Completes the operation. May be called again if it throws. */
    void complete();
  }

  private final Consumer<Runnable> worker;

  /** Each with whether a worker has claimed it. */
  private final Map<Operation, Boolean> operations;

  /**
   * @param worker runs a task on a worker
   */
  public Completions(Consumer<Runnable> worker) {
    this(worker, new ConcurrentHashMap<>());
  }

  Completions(Consumer<Runnable> worker, Map<Operation, Boolean> operations) {
    this.worker = worker;
    this.operations = operations;
  }

  /** Enters an operation, before it begins, or when an error has kept it from being entered. */
  public void begin(Operation operation) {
    operations.putIfAbsent(operation, false);
  }

  /**
   * Takes an operation back: it is complete. Throws only if it is known to be still entered. A map
   * counts its entries after it has removed one, and counting may need memory or stack; nobody
   * would complete an operation that failed then. One that stays entered and does not fail costs an
   * entry.
   */
  public void end(Operation operation) {
    try {
      operations.remove(operation);
    } catch (Throwable e) {
      boolean entered = false;
      try {
        entered = operations.containsKey(operation);
      } catch (Throwable noStack) {
        // Not known.
      }
      if (entered) {
        throw e;
      }
    }
  }

  /** Has those completed whose flags are set. The scheduler's thread calls it. */
  public void look() {
    operations.forEach(
        (operation, claimed) -> {
          if (operation.isBroken() && !claimed) {
            worker.accept(() -> complete(operation));
          }
        });
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
