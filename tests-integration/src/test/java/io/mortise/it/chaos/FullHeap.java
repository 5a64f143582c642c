package io.mortise.it.chaos;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Fills the heap of this JVM, so that the allocations of all its threads fail for a while. */
final class FullHeap {
  private static final int LARGEST_BYTES = 1 << 20;
  private static final int SMALLEST_BYTES = 16;

  /** By how much the blocks become smaller when there is no room: few, large ones are quick. */
  private static final int STEP = 8;

  /** Between two allocations that failed, so that other threads run, and fail too. */
  private static final long GAP_NANOS = 200_000;

  /** Takes room, as long as a later one leads to it. */
  @SuppressWarnings("unused") // its fields are there to be reached
  private static final class Block {
    final byte[] bytes;
    final @Nullable Block previous;

    Block(int size, @Nullable Block previous) {
      this.bytes = new byte[size];
      this.previous = previous;
    }
  }

  static {
    prepare(OutOfMemoryError.class);
  }

  private FullHeap() {}

  /**
   * Makes the calling class ready to catch that error: the JVM loads the class of an error when a
   * class first catches it, which needs memory; by naming it here the caller has loaded it.
   */
  static void prepare(Class<? extends Error> caught) {
    Objects.requireNonNull(caught);
  }

  /**
   * Keeps the heap full for that time, which begins when there is no room for the smallest block;
   * then gives the room back.
   *
   * @return how many allocations of this thread failed
   */
  static int keep(Duration time) {
    Block last = null;
    int failures = 0;
    int bytes = LARGEST_BYTES;
    long endNanos = Long.MAX_VALUE;
    boolean failed = false;
    try {
      while (System.nanoTime() < endNanos) {
        try { // the answer to a failure too may need memory, when its calls are linked
          if (failed && bytes > SMALLEST_BYTES) {
            bytes = Math.max(SMALLEST_BYTES, bytes / STEP);
          } else if (failed) {
            endNanos = Math.min(endNanos, System.nanoTime() + time.toNanos());
            LockSupport.parkNanos(GAP_NANOS);
          }
          failed = false;
          last = new Block(bytes, last);
        } catch (OutOfMemoryError full) {
          failed = true;
          failures++;
        }
      }
    } finally {
      Reference.reachabilityFence(last);
    }
    return failures;
  }
}
