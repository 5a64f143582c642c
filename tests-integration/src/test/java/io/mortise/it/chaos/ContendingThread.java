package io.mortise.it.chaos;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.chaos.CurrentTask.Task;
import io.mortise.testkit.HoldLog;
import java.util.List;
import java.util.Optional;
import java.util.Random;

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
 */
final class ContendingThread {
  /** By how much a stall outlasts the lease. */
  private static final long STALL_MARGIN_NANOS = 300_000_000;

  private static final long MAX_BREAK_NANOS = 3_000_000;

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
    for (Optional<Task> task = currentTask.next(); task.isPresent(); task = currentTask.next()) {
      try {
        cycle(currentTask, task.get());
      } finally {
        currentTask.done();
      }
      currentTask.pause(random.nextLong(MAX_BREAK_NANOS));
    }
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
    String holder = name + "#" + ++lastHold;
    long token = entered.lease().fencingToken();
    observer.granted(holder, entry, token, notBefore(entered, requestedNanos), System.nanoTime());
    List<HoldLog.Hold> holds =
        entered.lease().isValid()
            ? entry.resources().stream()
                .map(resource -> log.acquired(resource, holder, token, entry.mode()))
                .toList()
            : List.of();
    entered
        .lease()
        .onLost(
            loss -> {
              observer.notified(holder, loss);
              holds.forEach(hold -> hold.lost(loss.atNanos()));
            });
    try {
      write(entry, token);
      if (!entered.renewed() && thinkTime.stalls(random)) {
        currentTask.pause(locks.lease().toNanos() + STALL_MARGIN_NANOS);
      } else {
        currentTask.pause(thinkTime.next(random, locks.lease()).toNanos());
      }
      write(entry, token);
    } finally {
      leave(entered, holder, holds);
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

  private void write(SectionEntry entry, long token) {
    for (String resource : entry.resources()) {
      writeLog.write(resource, token);
      writeLog.writeGuarded(resource, token);
    }
  }

  private void leave(EnteredHold entered, String holder, List<HoldLog.Hold> holds) {
    long lastNanos = System.nanoTime();
    if (entered.lease().isValid()) {
      holds.forEach(hold -> hold.lost(lastNanos)); // it was valid at that time: its end
    }
    try {
      entered.release().run();
      observer.released(holder);
    } catch (LeaseLostException e) {
      observer.notified(holder, e.loss());
      holds.forEach(hold -> hold.lost(e.loss().atNanos()));
    } catch (LockException e) {
      observer.unconfirmed(holder);
    }
  }
}
