package io.mortise.redlock;

import io.mortise.core.spi.OwnedLease;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leases that the nodes grant in one round, in time or late. They are kept until a hold has
 * them, or are released if there is no hold.
 *
 * <p><b>A full heap.</b> No grant is forgotten when memory is exhausted: there is a place for each.
 * If memory, or anything else, keeps them from being released, none of them is renewed: they end
 * with their lease.
 *
 * <p><b>Threads.</b> {@link #accept} is called by the threads that deliver replies, all else by the
 * thread of the {@link QuorumRound}. The monitor guards the fields: to enter it needs no memory,
 * and under it nothing blocks.
 */
final class Grants implements FanOut.LateReplyHandler<Optional<OwnedLease>> {
  private final QuorumMembers members;
  private final FanOut<Optional<OwnedLease>> votes;
  private final long budgetNanos;

  // All guarded by the monitor.
  private final @Nullable OwnedLease[] kept;
  private @Nullable MajorityLease hold;
  private boolean rejected;

  Grants(QuorumMembers members, FanOut<Optional<OwnedLease>> votes, long budgetNanos) {
    this.members = members;
    this.votes = votes;
    this.budgetNanos = budgetNanos;
    this.kept = new @Nullable OwnedLease[members.size()];
  }

  /**
   * Ends the wait for the votes, takes those that have come, and the others when they come.
   * Allocates nothing, and may be called again.
   */
  void closeVotes(boolean interrupt) {
    votes.close(interrupt, this);
    synchronized (this) {
      for (int i = 0; i < kept.length; i++) {
        Optional<OwnedLease> vote = votes.valueAt(i);
        if (vote != null && vote.isPresent()) {
          kept[i] = vote.get();
        }
      }
    }
  }

  @Override
  public void accept(int place, Optional<OwnedLease> vote) {
    if (vote.isEmpty()) {
      return;
    }
    OwnedLease lease = vote.get();
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

  /** Returns the leases so far by the places of their nodes. */
  Map<Integer, OwnedLease> byPlace() {
    Map<Integer, OwnedLease> leases = new HashMap<>();
    for (int i = 0; i < kept.length; i++) {
      OwnedLease lease = keptAt(i);
      if (lease != null) {
        leases.put(i, lease);
      }
    }
    return leases;
  }

  /**
   * Returns the largest token of the leases that remember the given token or a later one; 0 if
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

  /**
   * Adds all other and all later leases to a hold.
   *
   * @param confirmed those that the hold has, by place
   */
  void attachTo(MajorityLease newHold, List<? extends @Nullable OwnedLease> confirmed) {
    synchronized (this) {
      hold = newHold;
    }
    for (int i = 0; i < kept.length; i++) {
      OwnedLease lease = keptAt(i);
      if (lease != null && confirmed.get(i) == null) {
        newHold.addMemberAsync(i, lease);
      }
    }
  }

  /**
   * Releases all, because there is no hold, and later ones when they come. On all nodes at the same
   * time, so that the next round finds them free.
   *
   * @param awaited whether to wait for the replies, within the budget
   */
  void release(boolean awaited) {
    synchronized (this) {
      rejected = true;
    }
    boolean submitted = false;
    try {
      FanOut<Boolean> releases = members.fanOut(budgetNanos);
      byPlace()
          .forEach(
              (place, lease) ->
                  releases.submitOrRun(
                      place,
                      () -> {
                        lease.release();
                        return true;
                      }));
      submitted = true;
      if (awaited) {
        releases.awaitAndClose(done -> false, budgetNanos);
      } else {
        releases.close(false, FanOut.ignoreLate());
      }
    } finally {
      if (!submitted) {
        stopRenewals(0);
      }
    }
  }

  private synchronized @Nullable OwnedLease keptAt(int place) {
    return kept[place];
  }

  private void stopRenewals(int place) {
    if (place < kept.length) {
      try {
        OwnedLease lease = keptAt(place);
        if (lease != null) {
          lease.stopRenewal("an error ended the acquisition");
        }
      } finally {
        stopRenewals(place + 1);
      }
    }
  }
}
