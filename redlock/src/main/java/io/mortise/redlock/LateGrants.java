package io.mortise.redlock;

import io.mortise.core.spi.OwnedLease;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Leases that nodes grant after a majority was reached. They are kept until the hold exists and
 * then join it, or are released if there is no hold.
 *
 * <p><b>A full heap.</b> No grant is lost when memory is exhausted: there is a place for each, and
 * an error in the release of one does not keep the others from theirs.
 *
 * <p><b>Threads.</b> Called by the threads that deliver replies and by the thread that creates the
 * hold. The monitor guards the fields: to enter it needs no memory, and under it nothing blocks.
 */
final class LateGrants implements FanOut.LateReplyHandler<Optional<OwnedLease>> {
  // All guarded by the monitor.
  private final @Nullable OwnedLease[] kept;
  private @Nullable MajorityLease hold;
  private boolean rejected;

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
    synchronized (this) {
      current = rejected ? null : hold;
      if (current == null && !rejected) {
        kept[place] = lease;
        return;
      }
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
  synchronized long tokenIfRemembered(long token) {
    long largest = 0;
    for (OwnedLease lease : kept) {
      if (lease != null && lease.lastToken() >= token) {
        largest = Math.max(largest, lease.fencingToken());
      }
    }
    return largest;
  }

  /** Attaches all kept and all later grants to the hold. */
  void attachTo(MajorityLease newHold) {
    synchronized (this) {
      hold = newHold;
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
    synchronized (this) {
      rejected = true;
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

  private synchronized @Nullable OwnedLease keptAt(int place) {
    return kept[place];
  }

  private synchronized void remove(int place) {
    kept[place] = null;
  }
}
