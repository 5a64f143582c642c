package io.mortise.core.spi;

import io.mortise.core.LeaseLostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The hold counts of threads: which thread owns which lock, and how often. This is the only class
 * in which threads are owners. Re-entry is counted here; only a longer lease costs a round trip.
 *
 * <p><b>Threads.</b> Each method acts on the calling thread. The holds of a thread are in its own
 * thread-local map, which no other thread reads or writes, so no lock is needed. The map is removed
 * with the last hold, or with the thread.
 */
public final class ThreadOwnership {
  /** The lock itself, by which a thread has entered it; otherwise a hold that it is a part of. */
  private static final Object ITSELF = new Object();

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

  private ThreadOwnership() {}

  /**
   * Makes the current thread hold the lock once more, for a hold that is composed of this one and
   * others. It exits this level by {@link #exitFor} or {@link #unlockFor}.
   *
   * @param whole that hold, compared by identity
   * @return false when another owner held it
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   * @throws LeaseLostException if this thread held the lock, lost it, and has not unlocked it since
   */
  public static boolean lockFor(Object whole, LeaseSource source, LeaseTerms terms)
      throws InterruptedException {
    return lock(whole, source, terms, WaitPolicy.AS_ASKED);
  }

  /** The same for a caller. The policy decides how long the caller waits. */
  static boolean lock(LeaseSource source, LeaseTerms terms, WaitPolicy waits)
      throws InterruptedException {
    return lock(ITSELF, source, terms, waits);
  }

  private static boolean lock(
      Object enteredBy, LeaseSource source, LeaseTerms terms, WaitPolicy waits)
      throws InterruptedException {
    ThreadHold hold = held(source.identity());
    if (hold != null) {
      try {
        reenter(hold, source, terms, enteredBy);
      } catch (LeaseLostException e) {
        throw notUnlocked(hold, e);
      }
      return true;
    }
    if (isObstructed(source, source.selfDeadlockAsOwner(), terms.isUnbounded())) {
      return false;
    }
    Consumer<OwnedLease> owning = // nothing fails after it
        held -> registerFor(enteredBy, source, held, terms);
    Optional<OwnedLease> lease = waits.acquire(terms, source::acquireForThread);
    lease.ifPresent(owning);
    return lease.isPresent();
  }

  /**
   * Returns whether the current thread would wait for itself.
   *
   * @param selfDeadlock why it would; empty when it would not
   * @throws IllegalStateException if it would, and {@code waits} is true
   */
  static boolean isObstructed(LeaseSource source, Optional<String> selfDeadlock, boolean waits) {
    if (waits && selfDeadlock.isPresent()) {
      throw new IllegalStateException(
          "lock '%s': thread '%s' would wait for itself: %s"
              .formatted(source.name(), Thread.currentThread().getName(), selfDeadlock.get()));
    }
    return selfDeadlock.isPresent();
  }

  /**
   * Makes the current thread the owner of a hold that was acquired for it, see {@link #lockFor}.
   */
  public static void registerFor(
      Object whole, LeaseSource source, OwnedLease lease, LeaseTerms terms) {
    try {
      put(source, new ThreadHold(lease, new ThreadHold.Level(whole, terms.renewed())));
      lease.beginMinimum(terms);
    } catch (RuntimeException | Error e) {
      try {
        abandon(source, lease);
      } catch (RuntimeException | Error suppressed) {
        if (suppressed != e) { // the JVM throws an OutOfMemoryError that it has made several times
          e.addSuppressed(suppressed);
        }
      }
      throw e;
    }
  }

  /** Releases a hold that no caller has received, whatever fails on the way. */
  private static void abandon(LeaseSource source, OwnedLease lease) {
    try {
      lease.releaseUnused(); // it has no other owner
    } finally {
      forget(source.identity());
    }
  }

  private static void put(LeaseSource source, ThreadHold hold) {
    Map<Object, ThreadHold> held = HELD.get();
    if (held == null) {
      held = new HashMap<>();
      HELD.set(held);
    }
    held.put(source.identity(), hold);
  }

  private static @Nullable ThreadHold held(Object identity) {
    Map<Object, ThreadHold> held = HELD.get();
    ThreadHold hold = held == null ? null : held.get(identity);
    return hold == null || hold.depth() == 0 ? null : hold; // without levels an error has left it
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
  private static void recordRelease(Object identity) {
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

  private static void reenter(
      ThreadHold hold, LeaseSource source, LeaseTerms terms, Object enteredBy)
      throws InterruptedException {
    if (terms.interruptible() && Thread.interrupted()) {
      throw new InterruptedException("interrupted before re-entering '" + source.name() + "'");
    }
    if (hold.depth() == Integer.MAX_VALUE) {
      throw new IllegalStateException("lock '" + source.name() + "': held too often");
    }
    // First, because it may fail, and nothing is to be undone then.
    ThreadHold.Level entered = new ThreadHold.Level(enteredBy, terms.renewed());
    long nowNanos = source.nanoTime();
    hold.lease().reenter(terms);
    try {
      hold.lease().ensureValid();
      if (terms.minimumMillis() > 0) {
        hold.lease().keepUntil(nowNanos + terms.minimumNanos());
      }
    } catch (Throwable e) { // the hold was lost, or an error, such as no memory
      hold.lease().exit(hold.isRenewed());
      throw e;
    }
    hold.add(entered);
  }

  /** Names the lock that the thread locks: the cause may be the loss of a part of it. */
  private static LeaseLostException notUnlocked(ThreadHold hold, LeaseLostException cause) {
    LeaseLostException again =
        LeaseLostException.whenLockingAgain(hold.lease().loss().orElse(cause.loss()));
    again.initCause(cause);
    return again;
  }

  /**
   * Exits one level of the current thread; exiting the last one releases the lock.
   *
   * @throws LeaseLostException if the lease was lost before
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   * @throws io.mortise.core.LockException if the release could not be confirmed
   */
  public static void unlock(LeaseSource source) {
    unlockFor(ITSELF, source);
  }

  /** The same for a hold that is composed of this one and others, see {@link #lockFor}. */
  public static void unlockFor(Object whole, LeaseSource source) {
    OwnedLease last = exitFor(whole, source);
    if (last != null) {
      try {
        last.release();
      } catch (Error e) {
        last.stopRenewal(OwnedLease.UNRELEASED); // or it would last for ever
        throw e;
      } finally {
        recordRelease(source.identity()); // after its members, if it is composite
      }
    }
  }

  /**
   * Exits one level of the current thread, see {@link #lockFor}, and releases nothing.
   *
   * @return the lease if it was the last level, which the caller has to release; otherwise null
   * @throws LeaseLostException if it was not the last level, and the lease was lost
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  public static @Nullable OwnedLease exitFor(Object whole, LeaseSource source) {
    ThreadHold hold = held(source.identity());
    if (hold == null) {
      throw notHeld(source);
    }
    if (hold.depth() > 1) {
      hold.remove(whole);
      hold.lease().exit(hold.isRenewed());
      hold.lease().ensureValid();
      return null;
    }
    recordRelease(source.identity());
    hold.remove(whole);
    try {
      forget(source.identity());
    } catch (Error e) { // nobody gets the lease
      hold.lease().stopRenewal(OwnedLease.UNRELEASED);
      throw e;
    }
    return hold.lease();
  }

  private static IllegalMonitorStateException notHeld(LeaseSource source) {
    return new IllegalMonitorStateException(
        "lock '%s': thread '%s' %s"
            .formatted(
                source.name(),
                Thread.currentThread().getName(),
                hasReleased(source.identity())
                    ? "does not hold it: it has released it already"
                    : "does not hold it: it has never locked it"));
  }

  /**
   * Returns the current thread's hold, also when it was lost; the lease reports that itself.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  public static OwnedLease lease(LeaseSource source) {
    return leaseOf(source.identity()).orElseThrow(() -> notHeld(source));
  }

  /** Returns the current thread's hold, lost or not; empty if it has none. */
  public static Optional<OwnedLease> leaseOf(Object identity) {
    return Optional.ofNullable(held(identity)).map(ThreadHold::lease);
  }

  /** Returns how often the current thread holds the lock; 0 when its lease was lost. */
  public static int holdCount(LeaseSource source) {
    ThreadHold hold = held(source.identity());
    return hold != null && hold.lease().isValid() ? hold.depth() : 0;
  }
}
