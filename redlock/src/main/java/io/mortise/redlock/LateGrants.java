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
 * What nodes grant after a majority was reached: kept until there is a hold, then part of it; or
 * given back when there will be none.
 *
 * <p>Used by the threads that bring the answers and by the one that makes the hold; the fields are
 * guarded by the lock, and nothing is sent under it.
 */
final class LateGrants implements FanOut.Late<Optional<OwnedLease>> {
  private final ReentrantLock lock = new ReentrantLock();

  // All guarded by lock.
  private final Map<Integer, OwnedLease> kept = new HashMap<>();
  private @Nullable MajorityLease hold;
  private boolean refused;

  @Override
  public void accept(int place, Optional<OwnedLease> granted) {
    if (granted.isEmpty()) {
      return;
    }
    OwnedLease lease = granted.get();
    MajorityLease now;
    lock.lock();
    try {
      now = hold;
      if (now == null && !refused) {
        kept.put(place, lease);
        return;
      }
    } finally {
      lock.unlock();
    }
    if (now == null) {
      MajorityLease.releaseQuietly(lease);
    } else {
      now.addMember(place, null, lease);
    }
  }

  /** The token of one that came late and remembers that token or a later one; otherwise 0. */
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

  /** There is a hold: all that was kept, and all that still comes, joins it. */
  void attachTo(MajorityLease newHold) {
    Map<Integer, OwnedLease> early;
    lock.lock();
    try {
      hold = newHold;
      early = new HashMap<>(kept);
      kept.clear();
    } finally {
      lock.unlock();
    }
    early.forEach(newHold::addMemberAsync);
  }

  /** There will be no hold. */
  void reject() {
    List<OwnedLease> back;
    lock.lock();
    try {
      refused = true;
      back = new ArrayList<>(kept.values());
      kept.clear();
    } finally {
      lock.unlock();
    }
    back.forEach(MajorityLease::releaseQuietly);
  }
}
