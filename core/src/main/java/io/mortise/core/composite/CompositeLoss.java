package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What became of the members of a joint hold, in one loss. */
final class CompositeLoss {
  private CompositeLoss() {}

  /**
   * The loss of a hold: when and why the member was lost with which too few were left, and what
   * became of each of them.
   *
   * @param fact what was seen of the whole
   * @param there the members that are there, lost or not
   * @param places how many there could be
   * @param required how many have to stand
   */
  static LeaseLoss of(
      String name, long token, String fact, List<OwnedLease> there, int places, int required) {
    List<LeaseLoss> losses = new ArrayList<>();
    List<String> details = new ArrayList<>();
    for (OwnedLease member : there) {
      Optional<LeaseLoss> loss = member.loss();
      loss.ifPresent(losses::add);
      if (!member.isValid()) {
        details.add(
            "'%s': %s"
                .formatted(
                    member.lockName(),
                    loss.map(LeaseLoss::detail).orElse("it was released by itself")));
      }
    }
    long now = System.nanoTime();
    losses.sort(Comparator.comparingLong(loss -> loss.atNanos() - now));
    // Seen late, more may have been lost since: so many could be without harm.
    int harmless = Math.max(0, there.size() - required);
    LeaseLoss decisive =
        losses.isEmpty()
            ? new LeaseLoss(name, token, Reason.MISSING, now, "")
            : losses.get(Math.min(harmless, losses.size() - 1));
    return new LeaseLoss(
        name,
        token,
        decisive.reason(),
        decisive.atNanos(),
        places == 1
            ? decisive.detail()
            : "%s: of %d members %d must stand, and these do not: %s"
                .formatted(fact, places, required, String.join("; ", details)));
  }
}
