package io.mortise.redlock;

import io.mortise.core.composite.MemberLock;
import io.mortise.core.spi.OwnedLease;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Leases that nodes grant after a majority was reached. They are kept until the hold exists and
 * then join it, or are released if there is no hold.
 *
 * <p><b>A full heap.</b> No grant is lost when memory is exhausted: there is a place for each, and
 * an error in the release of one does not keep the others from theirs.
 *
 * <p><b>Threads.</b> Called by the threads that deliver replies and by the thread that creates the
 * hold. The lock guards the fields; no command is sent while it is held.
 */
final class LateGrants implements FanOut.LateReplyHandler<Optional<OwnedLease>> {
  private final ReentrantLock lock = MemberLock.create();

  // All guarded by lock.
  private final @Nullable OwnedLease[] kept;
  private @Nullable MajorityLease hold;
  private boolean rejected;

  /**
   * @param members the number of nodes
   */
  LateGrants(int members) {
    this.kept = new @Nullable OwnedLease[members];
  }

  @Override
  public void accept(int place, Optional<OwnedLease> granted) {
    if (granted.isEmpty()) {
      return;
    }
    OwnedLease lease = granted.get();
    MajorityLease current;
    lock.lock();
    try {
      current = rejected ? null : hold;
      if (current == null && !rejected) {
        kept[place] = lease;
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
      long largest = 0;
      for (OwnedLease lease : kept) {
        if (lease != null && lease.lastToken() >= token) {
          largest = Math.max(largest, lease.fencingToken());
        }
      }
      return largest;
    } finally {
      lock.unlock();
    }
  }

  /** Attaches all kept and all later grants to the hold. */
  void attachTo(MajorityLease newHold) {
    lock.lock();
    try {
      hold = newHold;
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < kept.length; i++) {
      OwnedLease lease = keptAt(i);
      if (lease != null) {
        newHold.addMemberAsync(i, lease);
        remove(i); // after an error it is rejected
      }
    }
  }

  /** Releases all kept and all later grants, because there is no hold. */
  void reject() {
    lock.lock();
    try {
      rejected = true;
    } finally {
      lock.unlock();
    }
    releaseFrom(0);
  }

  private void releaseFrom(int place) {
    if (place < kept.length) {
      try {
        OwnedLease lease = keptAt(place);
        if (lease != null) {
          remove(place);
          QuorumMember.releaseQuietly(lease);
        }
      } finally {
        releaseFrom(place + 1);
      }
    }
  }

  private @Nullable OwnedLease keptAt(int place) {
    lock.lock();
    try {
      return kept[place];
    } finally {
      lock.unlock();
    }
  }

  private void remove(int place) {
    lock.lock();
    try {
      kept[place] = null;
    } finally {
      lock.unlock();
    }
  }
}
