package io.mortise.schedules.model;

import io.mortise.core.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One hold of a leaf in the model: by a thread, with its levels of re-entry, or by a handle, which
 * has one level. All times are those of {@link System#nanoTime()}.
 */
final class Hold {
  static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

  /** A renewal that comes late leaves less than two thirds of the lease. */
  private static final long LEAST_RENEWED_NANOS = Duration.ofSeconds(19).toNanos();

  private static final long MILLI = 1_000_000;

  /** A call reads the clock more than once. */
  private static final long TOLERANCE_NANOS = 5_000_000;

  /** One level: what has entered it, and whether it needs the hold renewed. */
  private record Level(Object mark, boolean renewed, long earliestEnd) {}

  final Leaf leaf;
  final Actor actor;

  /** Whether the thread of the actor owns it; otherwise it is one of a handle. */
  final boolean owned;

  private final List<Level> levels = new ArrayList<>();

  /** Whether any level has needed renewal. */
  private boolean wasRenewed;

  private Duration longest = DEFAULT_LEASE;
  private long earliestEnd = Long.MIN_VALUE;
  private long latestEnd = Long.MIN_VALUE;

  /** Until when a release leaves the lock busy; the two are the bounds of that moment. */
  long earliestKeptEnd = Long.MIN_VALUE;

  long latestKeptEnd = Long.MIN_VALUE;

  /** What the product has given out for it; of a handle of several leaves, for all of them. */
  Lease lease;

  /** When the product says that it ends if it is not renewed. */
  long end;

  /** Whether it is gone from Redis, which its client learns at its next request. */
  boolean taken;

  boolean lost;

  /** Whether its thread has been told of the loss, and may acquire another one instead. */
  boolean known;

  /** The lost hold in whose place its thread has acquired this one; or null. */
  Hold replaced;

  Hold(Leaf leaf, Actor actor, boolean owned) {
    this.leaf = leaf;
    this.actor = actor;
    this.owned = owned;
  }

  /**
   * Adds a level that was entered between the two times.
   *
   * @param tolerated the part of the lease that may have passed before the end of the call
   */
  void enter(Object mark, Call call, long fromNanos, long toNanos, double tolerated) {
    Duration given = call.lease() == null ? DEFAULT_LEASE : call.lease();
    long least =
        call.lease() == null
            ? LEAST_RENEWED_NANOS
            : (long) (given.toNanos() * (1 - tolerated)) - drift(given);
    levels.add(new Level(mark, call.lease() == null, fromNanos + least));
    wasRenewed |= call.lease() == null;
    mayLastFor(given, toNanos);
    if (!call.minimum().isZero()) {
      earliestKeptEnd = Math.max(earliestKeptEnd, fromNanos + call.minimum().toNanos());
      latestKeptEnd = Math.max(latestKeptEnd, toNanos + call.minimum().toNanos());
    }
  }

  /**
   * Notes that an attempt may have extended the hold, even if it has failed in the end. A renewed
   * attempt has it renewed meanwhile, each time for the longest lease that it has had.
   */
  void attempted(Call call, long nowNanos) {
    mayLastFor(call.lease() == null ? longest : call.lease(), nowNanos);
  }

  private void mayLastFor(Duration lease, long nowNanos) {
    longest = lease.compareTo(longest) > 0 ? lease : longest;
    latestEnd = Math.max(latestEnd, nowNanos + lease.toNanos());
  }

  /** Removes the last level of that mark; without one, the last level, but not for a whole. */
  void exit(Object mark) {
    if (isRenewed()) { // perhaps a moment ago
      latestEnd = Math.max(latestEnd, System.nanoTime() + longest.toNanos());
    }
    int found = mark instanceof Whole ? -1 : levels.size() - 1;
    for (int i = levels.size() - 1; i >= 0; i--) {
      if (levels.get(i).mark == mark) {
        found = i;
        break;
      }
    }
    if (found >= 0) {
      levels.remove(found);
    }
  }

  boolean hasLevelOf(Object mark) {
    return levels.stream().anyMatch(level -> level.mark == mark);
  }

  /** Returns whether the thread has locked it by its name, or one that it has lost before. */
  boolean isUnlockable() {
    return hasLevelOf(Model.ITSELF) || (replaced != null && replaced.hasLevelOf(Model.ITSELF));
  }

  int depth() {
    return levels.size();
  }

  boolean isRenewed() {
    return levels.stream().anyMatch(Level::renewed);
  }

  /** Returns whether Redis has it. */
  boolean isLive() {
    return !lost && !taken;
  }

  /** Reads the end of the hold, and fails if it is not where the levels of the hold put it. */
  void observe(long nowNanos) {
    check(lease.isValid(), "it is lost, but it should be held: ", lease.loss());
    long left = lease.remaining().toNanos();
    long latest = System.nanoTime() + left; // other threads may have run since
    end = nowNanos + left;
    long least = earliestEnd;
    for (Level level : levels) {
      least = Math.max(least, level.earliestEnd);
    }
    if (isRenewed()) {
      least = nowNanos + LEAST_RENEWED_NANOS;
      earliestEnd = Math.max(earliestEnd, least);
      latestEnd = Math.max(latestEnd, nowNanos + longest.toNanos());
    } else if (leaf.shared && wasRenewed) { // then others may use it, and it stays renewed
      least = Math.min(least, nowNanos + LEAST_RENEWED_NANOS);
    }
    check(
        latest >= least - TOLERANCE_NANOS, "it ends too early, in ms: ", (least - latest) / MILLI);
    check(
        end <= latestEnd + TOLERANCE_NANOS || isRenewed() || leaf.shared,
        "it ends too late, in ms: ",
        (end - latestEnd) / MILLI);
  }

  private void check(boolean right, String problem, Object value) {
    if (!right) {
      throw new AssertionError(this + ": " + problem + value);
    }
  }

  /** Returns how much later it may end in Redis than its client says. */
  long driftNanos() {
    return drift(longest);
  }

  private static long drift(Duration lease) {
    return lease.toNanos() / 100 + 2_000_000;
  }

  @Override
  public String toString() {
    return "%s of %s%s, %d levels%s"
        .formatted(
            leaf, actor, owned ? "" : " (handle)", levels.size(), isRenewed() ? ", renewed" : "");
  }
}
