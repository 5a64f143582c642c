package io.mortise.core.spi;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The holds of the calling thread, and what it has released last.
 *
 * <p><b>Threads.</b> Each method acts on the calling thread. The holds of a thread are in its own
 * thread-local map, which no other thread reads or writes, so no lock is needed. The map is removed
 * with the last hold, or with the thread.
 */
final class ThreadHolds {
  /**
   * The holds of a thread, by the identity of the source. A thread without holds has no map: a
   * thread of a container outlives the application, and the map would keep the application's
   * classes in memory.
   */
  private static final ThreadLocal<@Nullable Map<Object, ThreadHold>> HELD = new ThreadLocal<>();

  private static final int MAX_REMEMBERED_RELEASES = 16;

  /**
   * The hashes of the identities that a thread has released last, to explain a superfluous {@code
   * unlock}. These are only numbers, so they may stay with the thread.
   */
  private static final ThreadLocal<Deque<Integer>> RELEASED =
      ThreadLocal.withInitial(() -> new ArrayDeque<>(MAX_REMEMBERED_RELEASES));

  private ThreadHolds() {}

  /** Makes it the hold of the current thread. */
  static void put(LeaseSource source, ThreadHold hold) {
    Map<Object, ThreadHold> held = HELD.get();
    if (held == null) {
      held = new HashMap<>();
      HELD.set(held);
    }
    held.put(source.identity(), hold);
  }

  /** Returns the hold of the current thread; null if it has none. */
  static @Nullable ThreadHold held(Object identity) {
    Map<Object, ThreadHold> held = HELD.get();
    ThreadHold hold = held == null ? null : held.get(identity);
    return hold == null || hold.depth() == 0 ? null : hold; // without levels an error has left it
  }

  /** Ends that hold; the lost one in whose place it was has its place again. */
  static void leave(LeaseSource source, ThreadHold hold) {
    ThreadHold lost = hold.replaced();
    if (lost == null) {
      forget(source.identity());
    } else {
      put(source, lost); // without memory: the map has an entry of that identity
    }
  }

  private static void forget(Object identity) {
    Map<Object, ThreadHold> held = HELD.get();
    if (held != null) {
      held.remove(identity);
      if (held.isEmpty()) {
        HELD.remove();
      }
    }
  }

  /** Without memory for the record, an explanation is poorer; the release goes on. */
  static void recordRelease(Object identity) {
    try {
      Deque<Integer> released = RELEASED.get();
      if (released.size() == MAX_REMEMBERED_RELEASES) {
        released.removeFirst();
      }
      released.addLast(identity.hashCode());
    } catch (OutOfMemoryError full) {
      return;
    }
  }

  private static boolean hasReleased(Object identity) {
    return RELEASED.get().contains(identity.hashCode());
  }

  /** Returns the exception for a thread that does not hold the lock. */
  static IllegalMonitorStateException notHeld(LeaseSource source) {
    return new IllegalMonitorStateException(
        "lock '%s': thread '%s' %s"
            .formatted(
                source.name(),
                Thread.currentThread().getName(),
                hasReleased(source.identity())
                    ? "does not hold it: it has released it already"
                    : "does not hold it: it has never locked it; a thread unlocks what it has locked"
                        + " itself, and a Lease is closed"));
  }
}
