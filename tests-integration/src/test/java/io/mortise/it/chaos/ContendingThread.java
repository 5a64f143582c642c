package io.mortise.it.chaos;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.chaos.CurrentTask.Task;
import io.mortise.testkit.HoldLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a client process: it enters a section in one of the possible ways, writes to the
 * guarded resources, stays for a while, writes again, and leaves. It writes whether its lease is
 * valid or not, as a program does that does not check.
 *
 * <p><b>Records.</b> A hold begins when the lock has been granted. It ends at the time before the
 * check whether the lease is valid, if it was; otherwise at the time of the loss that the lease
 * reports. So the hold of a thread that was suspended in between ends with its lease, not when the
 * thread continues. A thread that finds its lease lost already has had no hold, but writes all the
 * same.
 *
 * <p><b>A full heap.</b> Any step may throw an {@link OutOfMemoryError}. The thread does then what
 * a program does: it leaves the section, and begins anew. A hold whose end has no record counts for
 * the moment of its entry only.
 */
final class ContendingThread {
  /** By how much a stall outlasts the lease. */
  private static final long STALL_MARGIN_NANOS = 300_000_000;

  private static final long MAX_BREAK_NANOS = 3_000_000;

  static {
    FullHeap.prepare(OutOfMemoryError.class);
  }

  private final String name;
  private final ClientLocks locks;
  private final WriteLog writeLog;
  private final HoldLog log;
  private final HoldObserver observer;
  private final Random random;
  private long lastHold;

  ContendingThread(
      String name,
      ClientLocks locks,
      WriteLog writeLog,
      HoldLog log,
      HoldObserver observer,
      Random random) {
    this.name = name;
    this.locks = locks;
    this.writeLog = writeLog;
    this.log = log;
    this.observer = observer;
    this.random = random;
  }

  void run(CurrentTask currentTask) throws InterruptedException {
    boolean stopped = false;
    while (!stopped) {
      try {
        stopped = !next(currentTask);
      } catch (OutOfMemoryError full) {
        observer.outOfMemory();
        LockSupport.parkNanos(random.nextLong(MAX_BREAK_NANOS));
      }
    }
  }

  /** Returns false when there is no task any more. */
  private boolean next(CurrentTask currentTask) throws InterruptedException {
    Optional<Task> task = currentTask.next();
    if (task.isEmpty()) {
      return false;
    }
    try {
      cycle(currentTask, task.get());
    } finally {
      currentTask.done();
    }
    currentTask.pause(random.nextLong(MAX_BREAK_NANOS));
    return true;
  }

  private void cycle(CurrentTask currentTask, Task task) throws InterruptedException {
    List<SectionEntry> entries = locks.entries(task.name());
    SectionEntry entry = entries.get(random.nextInt(entries.size()));
    long requestedNanos = System.nanoTime();
    try {
      Optional<EnteredHold> entered = EnteredHold.attempt(entry.lock(), locks.lease(), random);
      if (entered.isPresent()) {
        inside(currentTask, task.thinkTime(), entry, entered.get(), requestedNanos);
      }
    } catch (LockException e) {
      currentTask.pause(
          random.nextLong(10 * MAX_BREAK_NANOS)); // a fault lasted longer than the wait
    }
  }

  private void inside(
      CurrentTask currentTask,
      ThinkTime thinkTime,
      SectionEntry entry,
      EnteredHold entered,
      long requestedNanos)
      throws InterruptedException {
    Stay stay = null;
    try {
      stay = new Stay(name + "#" + ++lastHold);
      enter(entry, entered, stay, requestedNanos);
      write(entry, entered);
      if (!entered.renewed() && thinkTime.stalls(random)) {
        currentTask.pause(locks.lease().toNanos() + STALL_MARGIN_NANOS);
      } else {
        currentTask.pause(thinkTime.next(random, locks.lease()).toNanos());
      }
      write(entry, entered);
    } finally {
      leave(entered, stay);
    }
  }

  private void enter(SectionEntry entry, EnteredHold entered, Stay stay, long requestedNanos) {
    Lease lease = entered.lease();
    long token = lease.fencingToken();
    observer.granted(
        stay.holder, entry, token, notBefore(entered, requestedNanos), System.nanoTime());
    if (lease.isValid()) {
      for (String resource : entry.resources()) {
        stay.holds.add(log.acquired(resource, stay.holder, token, entry.mode()));
      }
    }
    lease.onLost(
        loss -> {
          observer.notified(stay.holder, loss);
          stay.end(loss.atNanos());
        });
    stay.isListening = true;
  }

  /** The records of one stay in the section. */
  private static final class Stay {
    final String holder;
    final List<HoldLog.Hold> holds = new ArrayList<>();

    /** False when there was no room for a listener: then a loss is found when it is released. */
    boolean isListening;

    Stay(String holder) {
      this.holder = holder;
    }

    void end(long nanos) {
      holds.forEach(hold -> hold.lost(nanos));
    }
  }

  /**
   * Returns a time before the request that granted the lock, from which the lease counts. It is
   * later than the call by the time that the thread waited. A hold that is not renewed may have
   * been handed on with the longer lease of one that is.
   */
  private long notBefore(EnteredHold entered, long requestedNanos) {
    long leftNanos = entered.lease().remaining().toNanos();
    if (leftNanos == 0) {
      return requestedNanos;
    }
    LockOptions options = locks.lockOptions();
    long leaseNanos = options.lease().toNanos();
    long margin = (long) (leaseNanos * options.tuning().clockDrift()) + 2_000_000;
    return Math.max(requestedNanos, System.nanoTime() + leftNanos - leaseNanos + margin);
  }

  private void write(SectionEntry entry, EnteredHold entered) {
    long token = entered.lease().fencingToken();
    for (String resource : entry.resources()) {
      writeLog.write(resource, token);
      writeLog.writeGuarded(resource, token);
    }
  }

  /**
   * Leaves the section, whatever fails before.
   *
   * @param stay null if there was no room for records
   */
  private void leave(EnteredHold entered, @Nullable Stay stay) {
    long lastNanos = System.nanoTime();
    try {
      if (stay != null && entered.lease().isValid()) {
        stay.end(lastNanos); // it was valid at that time
      }
    } finally {
      release(entered, stay);
    }
  }

  private void release(EnteredHold entered, @Nullable Stay stay) {
    try {
      entered.release().run();
      if (stay != null) {
        observer.released(stay.holder);
      }
    } catch (LeaseLostException e) {
      if (stay != null && stay.isListening) {
        observer.notified(stay.holder, e.loss());
        stay.end(e.loss().atNanos());
      }
    } catch (LockException e) {
      if (stay != null) {
        observer.unconfirmed(stay.holder);
      }
    }
  }
}
