package io.mortise.redlock;

import io.mortise.core.spi.OwnedLease;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The leases that the nodes have granted in one round, until a hold has them.
 *
 * <p><b>A full heap.</b> If memory, or anything else, keeps them from being released, none of them
 * is renewed: they end with their lease.
 *
 * <p><b>Threads.</b> Confined to the thread of the {@link QuorumRound}.
 */
final class GrantedLeases {
  /** Releases what is granted later; made before it is needed. */
  static final FanOut.LateReplyHandler<Optional<OwnedLease>> RELEASE_LATE =
      (place, lease) -> releaseLate(lease);

  private final QuorumMembers members;
  private final FanOut<Optional<OwnedLease>> votes;
  private final long budgetNanos;

  GrantedLeases(QuorumMembers members, FanOut<Optional<OwnedLease>> votes, long budgetNanos) {
    this.members = members;
    this.votes = votes;
    this.budgetNanos = budgetNanos;
  }

  private static void releaseLate(Optional<OwnedLease> lease) {
    if (lease.isPresent()) {
      QuorumMember.releaseQuietly(lease.get());
    }
  }

  /** Returns the leases by the places of their nodes. */
  Map<Integer, OwnedLease> byPlace() {
    Map<Integer, OwnedLease> granted = new HashMap<>();
    for (int i = 0; i < members.size(); i++) {
      Optional<OwnedLease> vote = votes.valueAt(i);
      if (vote != null && vote.isPresent()) {
        granted.put(i, vote.get());
      }
    }
    return granted;
  }

  /**
   * Releases on all nodes at the same time, so that the next round finds them free.
   *
   * @param awaited whether to wait for the replies, within the budget
   */
  void release(boolean awaited) {
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

  private void stopRenewals(int place) {
    if (place < members.size()) {
      try {
        Optional<OwnedLease> granted = votes.valueAt(place);
        if (granted != null && granted.isPresent()) {
          granted.get().stopRenewal("an error ended the acquisition");
        }
      } finally {
        stopRenewals(place + 1);
      }
    }
  }
}
