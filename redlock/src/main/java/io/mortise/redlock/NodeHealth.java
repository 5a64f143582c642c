package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The health of one node, over all locks on it: whether it replies, and whether it can be used.
 *
 * <p><b>A node that hangs</b> would block one more thread with each acquisition that is decided
 * without it. Abandoned calls are therefore counted: calls in progress whose reply no thread
 * awaits. While there are several, the node counts as unresponsive: it is asked only if the others
 * have not decided within their budget. The same holds for a node that was unreachable just now.
 * While there are many, and the node has replied to nothing for a budget, it is not asked at all,
 * and counts as one that does not reply: otherwise a silent majority would block one more thread
 * with each round of each acquisition. The number alone proves nothing: a round that is decided
 * abandons its other calls at once, so many rounds at a time abandon many calls to a node that is
 * only a moment slower.
 *
 * <p><b>An outage</b> would go unnoticed, because a quorum works without the node. Each one is
 * therefore logged once: immediately if it is permanent, as a wrong password is, and otherwise
 * after {@link #LASTING_NANOS}.
 *
 * <p><b>Threads.</b> Any thread may call any method. The monitor guards the fields. A healthy node
 * costs its callers volatile reads and writes, and the monitor twice for a call that a decided
 * round leaves open. No method allocates anything. The times are those of the caller's clock, and
 * all callers have the same one.
 */
final class NodeHealth {
  /** How long an unreachable node is not asked again. */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How long a transient outage lasts before it is logged. */
  static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The shortest time between the logs of two outages of the node. */
  static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final int UNRESPONSIVE_CALLS = 4;
  private static final int SILENT_CALLS = 16;

  /** The part of its budget for which a node that seems silent is still asked. */
  private static final int BUDGET_PER_SUSPICION = 4;

  // Changed under the monitor, and read also without it.
  private volatile int abandonedCalls;
  private volatile boolean hasOutage;

  /**
   * When it last replied, or had few abandoned calls and got one more, whichever is later; without
   * meaning while it has few.
   */
  private volatile long quietSinceNanos;

  private volatile long answeredNanos;
  private volatile Set<String> serverIds = Set.of();

  // All guarded by the monitor: that it was silent from one moment, and was found so at another, by
  // that budget; and its outage.
  private long suspectedQuietSinceNanos;
  private long suspectedSinceNanos;
  private long suspectedBudgetNanos = -1;
  private long outageSinceNanos;
  private boolean unreachable;
  private long unreachableNanos;
  private boolean logged;
  private long loggedNanos;

  NodeHealth(long nowNanos) {
    this.answeredNanos = nowNanos;
    this.loggedNanos = nowNanos - QUIET_NANOS;
  }

  // ---- whether it replies

  int abandonedCalls() {
    return abandonedCalls;
  }

  /** Records that a call goes on, whose reply no thread awaits. */
  synchronized void onAbandoned(long nowNanos) {
    if (abandonedCalls < SILENT_CALLS) { // the time before the number: isSilent reads both
      onReply(nowNanos);
    }
    abandonedCalls++;
  }

  /** Records that such a call has ended. */
  synchronized void onAbandonedEnd() {
    abandonedCalls--;
  }

  /** Records that the node has replied to a call: from here on it has another budget. */
  void onReply(long nowNanos) {
    quietSinceNanos = nowNanos;
  }

  /**
   * Returns whether the node is asked only if the others have not decided in their budget. One that
   * was unreachable is so for {@link #PAUSE_NANOS}. After that time the first caller is let
   * through, and for the others it stays so until the node answers or another pause is over.
   */
  boolean isUnresponsive(long nowNanos) {
    return abandonedCalls >= UNRESPONSIVE_CALLS || (hasOutage && mustPause(nowNanos));
  }

  private synchronized boolean mustPause(long nowNanos) {
    if (!unreachable || nowNanos - unreachableNanos < PAUSE_NANOS) {
      return unreachable;
    }
    unreachableNanos = nowNanos;
    return false;
  }

  /**
   * Returns whether the node is not asked, because many calls wait for it, and none has had a reply
   * for the budget. The first caller that finds it so asks nevertheless, and so do others in the
   * next quarter of the budget: after a pause of this process the replies are about to be read.
   */
  boolean isSilent(long budgetNanos, long nowNanos) {
    return abandonedCalls >= SILENT_CALLS && hasStayedQuiet(budgetNanos, nowNanos);
  }

  private synchronized boolean hasStayedQuiet(long budgetNanos, long nowNanos) {
    long quietSince = quietSinceNanos;
    if (nowNanos - quietSince < budgetNanos) {
      return false;
    }
    if (suspectedQuietSinceNanos != quietSince || suspectedBudgetNanos < budgetNanos) {
      suspectedQuietSinceNanos = quietSince;
      suspectedSinceNanos = nowNanos;
      suspectedBudgetNanos = budgetNanos;
      return false;
    }
    return nowNanos - suspectedSinceNanos >= budgetNanos / BUDGET_PER_SUSPICION;
  }

  // ---- whether it can be used

  /**
   * Records a failure, unless the node has answered another call since.
   *
   * @param begunNanos when the call began
   * @return whether the outage is to be logged
   */
  synchronized boolean recordFailure(LockException failure, long begunNanos, long nowNanos) {
    if (failure.reason() == Reason.CLIENT_CLOSED || begunNanos - answeredNanos < 0) {
      return false;
    }
    if (!hasOutage) {
      hasOutage = true;
      outageSinceNanos = begunNanos;
    }
    if (failure.reason() == Reason.UNREACHABLE) {
      unreachable = true;
      unreachableNanos = nowNanos;
    }
    boolean isToBeLogged =
        !logged
            && nowNanos - loggedNanos >= QUIET_NANOS
            && (nowNanos - outageSinceNanos >= LASTING_NANOS || !failure.reason().isTransient());
    if (isToBeLogged) {
      logged = true;
      loggedNanos = nowNanos;
    }
    return isToBeLogged;
  }

  /**
   * Records that the node has answered a request for the lock.
   *
   * @return whether the end of an outage is to be logged
   */
  boolean recordAnswer(long nowNanos) {
    onReply(nowNanos);
    answeredNanos = nowNanos;
    return hasOutage && endOutage();
  }

  private synchronized boolean endOutage() {
    boolean wasLogged = logged;
    hasOutage = false;
    unreachable = false;
    logged = false;
    return wasLogged;
  }

  // ---- its servers

  /** Returns the ids that its servers report; empty until they have answered, or if none does. */
  Set<String> serverIds() {
    return serverIds;
  }

  void setServerIds(Set<String> ids) {
    serverIds = ids;
  }
}
