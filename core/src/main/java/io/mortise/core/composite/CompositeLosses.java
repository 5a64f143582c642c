package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Describes the losses of members as one loss of the composite hold.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class CompositeLosses {
  private CompositeLosses() {}

  /**
   * Returns the loss of a hold: when and why the member was lost that left too few, and the state
   * of each member that is not valid.
   *
   * @param places the number of places for members
   */
  static LeaseLoss of(
      String name,
      long token,
      String fact,
      List<OwnedLease> members,
      int places,
      int required,
      long now) {
    List<LeaseLoss> losses = new ArrayList<>();
    List<String> details = new ArrayList<>();
    for (OwnedLease member : members) {
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
    losses.sort(Comparator.comparingLong(loss -> loss.atNanos() - now));
    // More members may be lost than was decisive: the first `spare` losses did no harm.
    int spare = Math.max(0, members.size() - required);
    LeaseLoss decisive =
        losses.isEmpty()
            ? new LeaseLoss(name, token, Reason.MISSING, now, "")
            : losses.get(Math.min(spare, losses.size() - 1));
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
