package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The outage of one node that cannot be reached or used. A quorum works without the node, so an
 * outage would go unnoticed. Each outage is therefore logged once: immediately if it is permanent,
 * as a wrong password is, and otherwise after {@link #LASTING_NANOS}.
 *
 * <p><b>Threads.</b> Any thread may call any method. A healthy node costs its callers one volatile
 * read and one volatile write; the monitor guards all other state.
 */
final class NodeOutage {
  /** How long an unreachable node is not asked again. */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How long a transient outage lasts before it is logged. */
  static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The shortest time between the logs of two outages of the node. */
  static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier clock;

  /** Whether the node has an outage. */
  private volatile boolean begun;

  private volatile long answeredNanos;

  // All guarded by the monitor.
  private long sinceNanos;
  private boolean unreachable;
  private long unreachableNanos;
  private boolean logged;
  private long loggedNanos;

  NodeOutage(LongSupplier clock) {
    this.clock = clock;
    this.answeredNanos = clock.getAsLong();
    this.loggedNanos = answeredNanos - QUIET_NANOS;
  }

  /** Returns the start time of a call, for {@link #recordFailure}. */
  long begin() {
    return clock.getAsLong();
  }

  /**
   * Records a failure, unless the node has answered another call since.
   *
   * @return whether the outage is to be logged
   */
  synchronized boolean recordFailure(LockException failure, long begunNanos) {
    if (failure.reason() == Reason.CLIENT_CLOSED || begunNanos - answeredNanos < 0) {
      return false;
    }
    long now = clock.getAsLong();
    if (!begun) {
      begun = true;
      sinceNanos = begunNanos;
    }
    if (failure.reason() == Reason.UNREACHABLE) {
      unreachable = true;
      unreachableNanos = now;
    }
    boolean isToBeLogged =
        !logged
            && now - loggedNanos >= QUIET_NANOS
            && (now - sinceNanos >= LASTING_NANOS || !failure.reason().isTransient());
    if (isToBeLogged) {
      logged = true;
      loggedNanos = now;
    }
    return isToBeLogged;
  }

  /**
   * Records that the node has answered.
   *
   * @return whether the end of an outage is to be logged
   */
  boolean recordAnswer() {
    answeredNanos = clock.getAsLong();
    return begun && end();
  }

  private synchronized boolean end() {
    boolean wasLogged = logged;
    begun = false;
    unreachable = false;
    logged = false;
    return wasLogged;
  }

  /**
   * Returns whether calls to the node are suppressed because it was unreachable within the last
   * {@link #PAUSE_NANOS}. After that time the first caller is let through, and the others stay
   * suppressed until the node answers or another pause is over.
   */
  boolean suppressesCalls() {
    return begun && mustPause();
  }

  private synchronized boolean mustPause() {
    long now = clock.getAsLong();
    if (!unreachable || now - unreachableNanos < PAUSE_NANOS) {
      return unreachable;
    }
    unreachableNanos = now;
    return false;
  }
}
