package io.mortise.core.spi;

import io.mortise.core.LeaseLostException;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The hold counts of threads: which thread owns which lock, and how often. This is the only class
 * in which threads are owners. Re-entry is counted here; only a longer lease costs a round trip.
 *
 * <p><b>A lost hold</b> stays until the thread has exited its levels, and each exit reports the
 * loss. A thread that knows of the loss may lock again instead, and begins a new hold: it knows as
 * soon as an exit, an attempt to lock again, or a hold count of 0 has told it. Otherwise a program
 * that unlocks only what it still holds could never lock again on a thread of a pool. A composite
 * hold gives up its other members at that moment. The new hold remembers the lost one, so that each
 * exit still ends its own level, and reports the loss.
 *
 * <p><b>Threads.</b> Each method acts on the calling thread, whose holds are its own ({@link
 * ThreadHolds}).
 */
public final class ThreadOwnership {
  /** The lock itself, by which a thread has entered it; otherwise a hold that it is a part of. */
  private static final Object ITSELF = new Object();

  private ThreadOwnership() {}

  /**
   * Makes the current thread hold the lock once more, for a hold that is composed of this one and
   * others. It exits this level by {@link #exitFor} or {@link #unlockFor}.
   *
   * @param whole that hold, compared by identity
   * @return false when another owner held it
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   * @throws LeaseLostException if this thread held the lock, lost it, and did not know of that
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
    ThreadHold hold = ThreadHolds.held(source.identity());
    if (hold != null && !hold.isLossKnown()) {
      enterAgain(hold, source, terms, enteredBy);
      return true;
    }
    if (isObstructed(source, source.selfDeadlockAsOwner(), terms.waitNanos() > 0)) {
      return false;
    }
    Consumer<OwnedLease> owning = // nothing fails after it
        held -> registerFor(enteredBy, source, held, terms);
    Optional<OwnedLease> lease = waits.acquire(terms, source::acquireForThread);
    lease.ifPresent(owning);
    return lease.isPresent();
  }

  /**
   * Makes the current thread hold the lock once more that it holds, see {@link #lockFor}.
   *
   * @throws LeaseLostException if the hold was lost
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  public static void reenterFor(Object whole, LeaseSource source, LeaseTerms terms)
      throws InterruptedException {
    ThreadHold hold = ThreadHolds.held(source.identity());
    if (hold == null) {
      throw ThreadHolds.notHeld(source);
    }
    enterAgain(hold, source, terms, whole);
  }

  private static void enterAgain(
      ThreadHold hold, LeaseSource source, LeaseTerms terms, Object enteredBy)
      throws InterruptedException {
    try {
      reenter(hold, source, terms, enteredBy);
    } catch (LeaseLostException e) {
      throw lostBefore(hold, e);
    }
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
      ThreadHold hold = new ThreadHold(lease, new ThreadHold.Level(whole, terms.renewed()));
      ThreadHold lost = ThreadHolds.held(source.identity());
      if (lost != null) {
        hold.replace(lost);
      }
      ThreadHolds.put(source, hold);
      lease.beginMinimum(terms);
      hold.forgetOlder(); // not before: without this hold the lost one has its place again
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
      ThreadHold hold = ThreadHolds.held(source.identity());
      if (hold != null && hold.lease() == lease) {
        ThreadHolds.leave(source, hold);
      }
    }
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
  private static LeaseLostException lostBefore(ThreadHold hold, LeaseLostException cause) {
    noteLoss(hold);
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
        release(last);
      } finally {
        ThreadHolds.recordRelease(source.identity()); // after its members, if it is composite
      }
    }
  }

  private static void release(OwnedLease last) {
    try {
      last.release();
    } catch (Error e) {
      last.stopRenewal(OwnedLease.UNRELEASED); // or it would last for ever
      throw e;
    }
  }

  /**
   * Exits one level of the current thread, see {@link #lockFor}, and releases nothing.
   *
   * @return the lease if it was the last level, which the caller has to release; otherwise null
   * @throws LeaseLostException if it was not the last level, and the lease was lost
   * @throws IllegalMonitorStateException if this thread does not hold the lock, or not for this
   *     whole: it may have locked it anew since the whole was lost
   */
  public static @Nullable OwnedLease exitFor(Object whole, LeaseSource source) {
    ThreadHold hold = ThreadHolds.held(source.identity());
    if (hold == null) {
      throw ThreadHolds.notHeld(source);
    }
    if (!hold.hasLevelOf(whole)) {
      exitReplaced(whole, hold.replaced());
      if (whole != ITSELF || hold.hasForgotten()) {
        throw ThreadHolds.notHeld(source);
      }
    }
    if (hold.depth() > 1) {
      hold.remove(whole);
      hold.lease().exit(hold.isRenewed());
      if (whole == ITSELF) { // otherwise the whole decides what its thread is told
        noteLoss(hold);
      }
      hold.lease().ensureValid();
      return null;
    }
    ThreadHolds.recordRelease(source.identity());
    hold.remove(whole);
    try {
      ThreadHolds.leave(source, hold);
    } catch (Error e) { // nobody gets the lease
      hold.lease().stopRenewal(OwnedLease.UNRELEASED);
      throw e;
    }
    return hold.lease();
  }

  /** Exits a level of the lost hold in whose place the thread has another one by now. */
  private static void exitReplaced(Object whole, @Nullable ThreadHold lost) {
    if (lost != null && lost.hasLevelOf(whole)) {
      lost.remove(whole);
      lost.lease().ensureValid(); // throws the loss
    }
  }

  /** Called where the thread is told of the loss, if there is one. */
  private static void noteLoss(ThreadHold hold) {
    if (!hold.isLossKnown() && !hold.lease().isValid()) {
      hold.setLossKnown();
      hold.lease().giveUpLost(hold.depth());
    }
  }

  /**
   * Returns the current thread's hold, also when it was lost; the lease reports that itself.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  public static OwnedLease lease(LeaseSource source) {
    ThreadHold hold = ThreadHolds.held(source.identity());
    if (hold == null) {
      throw ThreadHolds.notHeld(source);
    }
    return hold.lease();
  }

  /** Returns the current thread's hold; empty if it has none, or knows that it was lost. */
  public static Optional<OwnedLease> leaseOf(Object identity) {
    return Optional.ofNullable(ThreadHolds.held(identity))
        .filter(hold -> !hold.isLossKnown())
        .map(ThreadHold::lease);
  }

  /** Returns how often the current thread holds the lock; 0 when its lease was lost. */
  public static int holdCount(LeaseSource source) {
    ThreadHold hold = ThreadHolds.held(source.identity());
    if (hold == null) {
      return 0;
    }
    noteLoss(hold);
    return hold.isLossKnown() ? 0 : hold.depth();
  }
}
