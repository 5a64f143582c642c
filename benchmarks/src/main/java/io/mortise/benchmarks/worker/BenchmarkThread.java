package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.Section;
import io.mortise.benchmarks.measure.Latencies;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The cycles of one thread of a {@link BenchmarkTask}. It lives over all rounds, with its
 * connections.
 *
 * <p><b>Threads.</b> One thread at a time; starting and joining a round's thread orders the rest.
 */
final class BenchmarkThread {
  private static final int NANOS_PER_MICRO = 1_000;

  private final BenchmarkTask work;
  private final Section section;
  private final @Nullable Section writing;
  private final SplittableRandom random;
  private final @Nullable SharedMemoryCounter counter;

  /** The number of cycles of which one writes; 0 if none does. */
  private final int period;

  private int placeInPeriod;
  private int writePlace;

  private long cycles;
  private long errors;
  private @Nullable String error;
  private long endNanos;
  private Latencies latencies = new Latencies();
  private Latencies handOffs = new Latencies();
  private Latencies entries = new Latencies();
  private Latencies exits = new Latencies();

  BenchmarkThread(
      Locks locks, BenchmarkTask work, int thread, @Nullable SharedMemoryCounter counter) {
    this.work = work;
    this.counter = counter;
    random = new SplittableRandom(thread);
    List<String> names = work.namesOf(thread);
    section = locks.section(work.lock(), names, work.sharing());
    boolean writes = work.writeShare() > 0;
    writing = writes ? locks.section(MeasuredLock.WRITE, names, work.sharing()) : null;
    period = writes ? (int) Math.round(1 / work.writeShare()) : 0;
  }

  /** Runs one round: cycles from a moment on, for a time. */
  void run(long startNanos, long nanos) {
    cycles = 0;
    errors = 0;
    error = null;
    latencies = new Latencies();
    handOffs = new Latencies();
    entries = new Latencies();
    exits = new Latencies();
    while (System.nanoTime() - startNanos < 0) {
      LockSupport.parkNanos(startNanos - System.nanoTime());
    }
    long deadline = startNanos + nanos;
    do {
      Section next = next();
      try {
        cycle(next);
        cycles++;
      } catch (RuntimeException e) {
        errors++;
        error = error == null ? e.toString() : error;
      }
      endNanos = System.nanoTime();
    } while (endNanos - deadline < 0);
  }

  /**
   * Returns the next section. One of each ten is a write, if a tenth writes, but nobody knows
   * which: a thread that happened to write more often would have fewer cycles than the others.
   */
  private Section next() {
    if (writing == null) {
      return section;
    }
    if (placeInPeriod == 0) {
      writePlace = random.nextInt(period);
    }
    Section next = placeInPeriod == writePlace ? writing : section;
    placeInPeriod = (placeInPeriod + 1) % period;
    return next;
  }

  private void cycle(Section next) {
    long asked = System.nanoTime();
    next.enter();
    long inside = System.nanoTime();
    long leaving = inside;
    try {
      long before = 0;
      if (counter != null) {
        before = counter.entries();
        long left = counter.left();
        if (left != 0) {
          handOffs.add(inside - left);
        }
      }
      workInside(inside);
      leaving = System.nanoTime();
      if (counter != null) {
        counter.leaves(before, leaving);
      }
    } finally {
      next.leave();
    }
    long out = System.nanoTime();
    latencies.add(
        work.latency() == BenchmarkTask.Latency.WAIT
            ? inside - asked
            : inside - asked + out - leaving);
    if (work.latency() == BenchmarkTask.Latency.PARTS) {
      entries.add(inside - asked);
      exits.add(out - leaving);
    }
  }

  /** Spins instead of sleeping: the resolution of the scheduler must not count. */
  private void workInside(long sinceNanos) {
    if (work.sectionMicros() > 0) {
      long until = sinceNanos + (long) work.sectionMicros() * NANOS_PER_MICRO;
      while (System.nanoTime() - until < 0) {
        Thread.onSpinWait();
      }
    }
  }

  long cycles() {
    return cycles;
  }

  long errors() {
    return errors;
  }

  @Nullable String error() {
    return error;
  }

  long endNanos() {
    return endNanos;
  }

  Latencies latencies() {
    return latencies;
  }

  Latencies handOffs() {
    return handOffs;
  }

  /** The times of the entries; empty unless they are measured for themselves. */
  Latencies entries() {
    return entries;
  }

  /** The times of the exits, in the same way. */
  Latencies exits() {
    return exits;
  }
}
