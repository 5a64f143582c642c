package io.mortise.core.spi;

import org.jspecify.annotations.Nullable;

/**
 * One hold of a thread, with its levels of re-entry.
 *
 * <p>A thread exits the levels of one lock in the opposite order, but not those of a member and of
 * its {@code MultiLock}. Example: it locks the member with a lease that is not renewed, then the
 * whole, and unlocks the member. The level that stays is that of the whole, which is renewed.
 *
 * <p><b>Threads.</b> Confined to the thread that has the hold.
 */
final class ThreadHold {
  private final OwnedLease lease;
  private @Nullable Level last;
  private int depth;
  private int renewedLevels;
  private boolean lossKnown;

  /** The lost hold in whose place the thread has acquired this one; null for none. */
  private @Nullable ThreadHold replaced;

  /** Whether an older lost hold was forgotten that had levels left. */
  private boolean hasForgotten;

  /** One level, linked to the one before it: to exit a level needs no memory. */
  static final class Level {
    private final Object enteredBy;
    private final boolean renewed;
    private @Nullable Level before;

    /**
     * @param enteredBy by what the thread has entered it, compared by identity
     * @param renewed whether it needs the hold renewed
     */
    Level(Object enteredBy, boolean renewed) {
      this.enteredBy = enteredBy;
      this.renewed = renewed;
    }
  }

  ThreadHold(OwnedLease lease, Level first) {
    this.lease = lease;
    add(first);
  }

  OwnedLease lease() {
    return lease;
  }

  int depth() {
    return depth;
  }

  /** Records that the thread has been told that the hold is not valid any more. */
  void setLossKnown() {
    lossKnown = true;
  }

  boolean isLossKnown() {
    return lossKnown;
  }

  /** Takes the place of a lost hold. */
  void replace(ThreadHold lost) {
    replaced = lost;
    hasForgotten = lost.hasForgotten || lost.replaced() != null;
  }

  /**
   * Forgets what the hold had replaced that this one replaces: a thread that never unlocks what it
   * loses would remember all.
   */
  void forgetOlder() {
    if (replaced != null) {
      replaced.hasForgotten = hasForgotten;
      replaced.replaced = null;
    }
  }

  /** Returns whether a superfluous exit may be that of a lost hold that was forgotten. */
  boolean hasForgotten() {
    return hasForgotten;
  }

  /** Returns the lost hold in whose place this one is; null if none has levels left. */
  @Nullable ThreadHold replaced() {
    return replaced != null && replaced.depth > 0 ? replaced : null;
  }

  /** Returns whether any level needs the hold renewed. */
  boolean isRenewed() {
    return renewedLevels > 0;
  }

  void add(Level level) {
    level.before = last;
    last = level;
    depth++;
    renewedLevels += level.renewed ? 1 : 0;
  }

  /** Returns whether it has a level that was entered so. */
  boolean hasLevelOf(Object enteredBy) {
    Level level = last;
    while (level != null && level.enteredBy != enteredBy) {
      level = level.before;
    }
    return level != null;
  }

  /** Removes the last level that was entered so; without such a level, the last one. */
  void remove(Object enteredBy) {
    Level after = null;
    Level found = last;
    while (found != null && found.enteredBy != enteredBy) {
      after = found;
      found = found.before;
    }
    if (found == null) { // it has exited the levels of another one
      after = null;
      found = last;
    }
    if (found != null) {
      unlink(after, found);
      depth--;
      renewedLevels -= found.renewed ? 1 : 0;
    }
  }

  private void unlink(@Nullable Level after, Level level) {
    if (after == null) {
      last = level.before;
    } else {
      after.before = level.before;
    }
  }
}
