package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of releasing the members of a composite hold, judged for the whole hold.
 *
 * <p><b>Threads.</b> Immutable; confined to the thread that releases.
 */
final class CompositeRelease {
  private final String name;
  private final int places;
  private final int required;
  private final long held;
  private final List<OwnedLease> valid;
  private final List<RuntimeException> unconfirmed;

  /**
   * Creates the result after all members were asked to release.
   *
   * @param valid the members that counted and were valid when the release began
   * @param failures the failures of the members that did not confirm the release
   */
  CompositeRelease(
      String name,
      int places,
      int required,
      List<OwnedLease> valid,
      List<RuntimeException> failures) {
    this.name = name;
    this.places = places;
    this.required = required;
    this.valid = valid;
    this.unconfirmed = failures.stream().filter(failure -> !isGone(failure)).toList();
    this.held = valid.stream().filter(member -> member.loss().isEmpty()).count();
  }

  /** Returns whether the hold was valid until the release, as far as the replies show. */
  boolean wasHeld() {
    return held >= required;
  }

  /** Returns whether that member was valid until the release, as far as it knows itself. */
  boolean stood(OwnedLease member) {
    return valid.contains(member) && member.loss().isEmpty();
  }

  /**
   * Throws when too few members have confirmed the release; the exception names those.
   *
   * <p>Two facts are needed. The lock is free: enough places hold nothing of this hold. An empty
   * place counts, and so does a member that is gone or in doubt; a member without an answer does
   * not. And the hold was valid until its release: enough members have confirmed that they held it.
   * Only a confirmed member counts for that. Example: a majority of three holds nodes 1 and 2, node
   * 2 loses its data, and another client acquires 2 and 3. If node 1 then confirms the release, and
   * node 2 is silent, the lock is free as far as this hold is concerned, but the release is in
   * doubt.
   *
   * @param loss the loss of the whole hold, or null; failures of other members are suppressed in it
   */
  void throwIfUnconfirmed(@Nullable LeaseLoss loss) {
    if (loss != null && !unconfirmed.isEmpty()) {
      LeaseLostException lost = new LeaseLostException(loss);
      unconfirmed.forEach(lost::addSuppressed);
      throw lost;
    }
    List<RuntimeException> unanswered =
        unconfirmed.stream().filter(failure -> !isInDoubt(failure)).toList();
    if (places - unanswered.size() < required) {
      throw places == 1 && unanswered.get(0) instanceof LockException itself
          ? itself
          : AggregateFailure.of(name, "the release could not be confirmed", unanswered);
    }
    if (!unconfirmed.isEmpty() && held - unconfirmed.size() < required) {
      throw AggregateFailure.of(Reason.IN_DOUBT, name, "the release is in doubt", unconfirmed);
    }
  }

  private static boolean isGone(RuntimeException failure) {
    return failure instanceof IllegalMonitorStateException;
  }

  private static boolean isInDoubt(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason() == Reason.IN_DOUBT;
  }
}
