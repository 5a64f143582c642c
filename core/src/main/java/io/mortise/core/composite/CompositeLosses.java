package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Describes the losses of members as one loss of the composite hold.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class CompositeLosses {
  private CompositeLosses() {}

  /**
   * Returns the loss of a hold: when and why the member was lost that left too few, and the state
   * of each member that does not stand.
   *
   * @param stands returns whether a member is valid, or was valid when the hold was released
   */
  static LeaseLoss of(
      String name,
      long token,
      String fact,
      CompositeMembers members,
      Predicate<OwnedLease> stands,
      long now) {
    List<LeaseLoss> losses = new ArrayList<>();
    List<String> details = new ArrayList<>();
    List<OwnedLease> present = members.all();
    for (OwnedLease member : present) {
      Optional<LeaseLoss> loss = member.loss();
      loss.ifPresent(losses::add);
      if (!stands.test(member)) {
        details.add(
            "'%s': %s"
                .formatted(
                    member.lockName(),
                    loss.map(LeaseLoss::detail).orElse("it was released by itself")));
      }
    }
    losses.sort(Comparator.comparingLong(loss -> loss.atNanos() - now));
    // More members may be lost than was decisive: the first `spare` losses did no harm.
    int spare = Math.max(0, present.size() - members.required());
    LeaseLoss decisive =
        losses.isEmpty()
            ? new LeaseLoss(name, token, Reason.MISSING, now, fact)
            : losses.get(Math.min(spare, losses.size() - 1));
    return new LeaseLoss(
        name,
        token,
        decisive.reason(),
        decisive.atNanos(),
        members.capacity() == 1 ? decisive.detail() : detail(fact, members, details));
  }

  private static String detail(String fact, CompositeMembers members, List<String> lost) {
    String all =
        "%s: of %d members %d must stand".formatted(fact, members.capacity(), members.required());
    return lost.isEmpty() ? all : all + ", and these do not: " + String.join("; ", lost);
  }
}
