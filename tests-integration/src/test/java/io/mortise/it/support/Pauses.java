package io.mortise.it.support;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The times in which this process did not run. A test that measures how late something was takes
 * them off: nothing can happen in them, whatever the product does.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class Pauses implements AutoCloseable {
  private record Pause(long fromNanos, long toNanos) {
    private long within(long from, long to) {
      return Math.max(0, Math.min(to, toNanos) - Math.max(from, fromNanos));
    }
  }

  private final Queue<Pause> all = new ConcurrentLinkedQueue<>();
  private final PauseRecorder recorder =
      PauseRecorder.start((from, to) -> all.add(new Pause(from, to)));

  private Pauses() {}

  /** Records pauses from now on, until it is closed. */
  public static Pauses record() {
    return new Pauses();
  }

  /** Returns how much of that time was a pause; times of {@link System#nanoTime()}. */
  public long nanosWithin(long fromNanos, long toNanos) {
    recorder.awaitLookedAt(toNanos); // a thread that was paused may be here before the recorder
    return all.stream().mapToLong(pause -> pause.within(fromNanos, toNanos)).sum();
  }

  @Override
  public void close() {
    recorder.close();
  }
}
