package io.mortise.benchmarks.worker;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.locks.Section;
import io.mortise.benchmarks.measure.Latencies;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One thread's share of a {@link WorkerTask}. It is kept over the rounds, with its connections. */
final class BenchmarkThread {
  private static final int NANOS_PER_MICRO = 1_000;

  private final WorkerTask work;
  private final Section section;
  private final @Nullable Section writing;
  private final SplittableRandom random;
  private final @Nullable SharedMemoryCounter board;

  private long cycles;
  private long errors;
  private @Nullable String error;
  private long endNanos;
  private Latencies latencies = new Latencies();
  private Latencies handOvers = new Latencies();

  BenchmarkThread(Locks locks, WorkerTask work, int thread, @Nullable SharedMemoryCounter board) {
    this.work = work;
    this.board = board;
    random = new SplittableRandom(thread);
    List<String> names = work.namesOf(thread);
    section = locks.section(work.lock(), names, work.sharing());
    writing = work.writeShare() > 0 ? locks.section(LockKind.WRITE, names, work.sharing()) : null;
  }

  /** A round, from a moment on, for a time. */
  void ride(long startNanos, long nanos) {
    cycles = 0;
    errors = 0;
    error = null;
    latencies = new Latencies();
    handOvers = new Latencies();
    for (long left = startNanos - System.nanoTime(); left > 0; ) {
      LockSupport.parkNanos(left);
      left = startNanos - System.nanoTime();
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

  private Section next() {
    return writing != null && random.nextDouble() < work.writeShare() ? writing : section;
  }

  private void cycle(Section next) {
    long asked = System.nanoTime();
    next.enter();
    long inside = System.nanoTime();
    long leaving = inside;
    try {
      if (board != null) {
        long left = board.entered();
        if (left != 0) {
          handOvers.add(inside - left);
        }
      }
      stay(inside);
      leaving = System.nanoTime();
      if (board != null) {
        board.leaves(leaving);
      }
    } finally {
      next.leave();
    }
    latencies.add(
        work.latency() == WorkerTask.Latency.WAIT
            ? inside - asked
            : inside - asked + System.nanoTime() - leaving);
  }

  /** Works, instead of sleeping: the scheduler's resolution is not what is measured. */
  private void stay(long sinceNanos) {
    if (work.stayMicros() > 0) {
      long until = sinceNanos + (long) work.stayMicros() * NANOS_PER_MICRO;
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

  Latencies handOvers() {
    return handOvers;
  }

  void close() {
    section.close();
    if (writing != null) {
      writing.close();
    }
  }
}
