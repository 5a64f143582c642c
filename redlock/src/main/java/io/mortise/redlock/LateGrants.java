package io.mortise.redlock;

import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Leases that nodes grant after a majority was reached. They are kept until the hold exists and
 * then join it, or are released if there is no hold.
 *
 * <p><b>Threads.</b> Called by the threads that deliver replies and by the thread that creates the
 * hold. The lock guards the fields; no command is sent while it is held.
 */
final class LateGrants implements FanOut.LateReplyHandler<Optional<OwnedLease>> {
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by lock.
  private final Map<Integer, OwnedLease> kept = new HashMap<>();
  private @Nullable MajorityLease hold;
  private boolean rejected;

  @Override
  public void accept(int place, Optional<OwnedLease> granted) {
    if (granted.isEmpty()) {
      return;
    }
    OwnedLease lease = granted.get();
    MajorityLease current;
    lock.lock();
    try {
      current = hold;
      if (current == null && !rejected) {
        kept.put(place, lease);
        return;
      }
    } finally {
      lock.unlock();
    }
    if (current == null) {
      QuorumMember.releaseQuietly(lease);
    } else {
      current.addMember(place, null, lease);
    }
  }

  /**
   * Returns the largest token of the late grants that remember the given token or a later one; 0 if
   * there is none.
   */
  long tokenIfRemembered(long token) {
    lock.lock();
    try {
      return kept.values().stream()
          .filter(lease -> lease.lastToken() >= token)
          .mapToLong(OwnedLease::fencingToken)
          .max()
          .orElse(0);
    } finally {
      lock.unlock();
    }
  }

  /** Attaches all kept and all later grants to the hold. */
  void attachTo(MajorityLease newHold) {
    Map<Integer, OwnedLease> pending;
    lock.lock();
    try {
      hold = newHold;
      pending = new HashMap<>(kept);
      kept.clear();
    } finally {
      lock.unlock();
    }
    pending.forEach(newHold::addMemberAsync);
  }

  /** Releases all kept and all later grants, because there is no hold. */
  void reject() {
    List<OwnedLease> released;
    lock.lock();
    try {
      rejected = true;
      released = new ArrayList<>(kept.values());
      kept.clear();
    } finally {
      lock.unlock();
    }
    released.forEach(QuorumMember::releaseQuietly);
  }
}
