package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What came of releasing the members of a joint hold: what it means for the whole. */
final class CompositeRelease {
  private final String name;
  private final int places;
  private final int required;
  private final long held;
  private final List<RuntimeException> unconfirmed;

  /**
   * A release of which everybody was asked.
   *
   * @param places how many members there could be
   * @param required how many have to stand
   * @param there how many there were
   * @param failures of those that did not confirm it
   */
  CompositeRelease(
      String name, int places, int required, int there, List<RuntimeException> failures) {
    this.name = name;
    this.places = places;
    this.required = required;
    this.unconfirmed = failures.stream().filter(failure -> !isGone(failure)).toList();
    this.held = there - failures.stream().filter(CompositeRelease::isGone).count();
  }

  /** Whether the hold stood until then, as far as anybody can tell. */
  boolean wasHeld() {
    return held >= required;
  }

  /**
   * Throws when too few have confirmed it, and tells which have not.
   *
   * @param loss of the whole, if it is one: the others' failures are told with it
   */
  void throwIfUnconfirmed(@Nullable LeaseLoss loss) {
    if (loss != null && !unconfirmed.isEmpty()) {
      LeaseLostException lost = new LeaseLostException(loss);
      unconfirmed.forEach(lost::addSuppressed);
      throw lost;
    }
    List<RuntimeException> silent =
        unconfirmed.stream().filter(failure -> !isInDoubt(failure)).toList();
    if (places - silent.size() < required) {
      throw places == 1 && silent.get(0) instanceof LockException itself
          ? itself // which says it all
          : AggregateFailure.of(name, "the release could not be confirmed", silent);
    }
    List<RuntimeException> doubts =
        unconfirmed.stream().filter(CompositeRelease::isInDoubt).toList();
    if (!doubts.isEmpty() && held - unconfirmed.size() < required) {
      throw AggregateFailure.of(name, "the release is in doubt", doubts);
    }
  }

  private static boolean isGone(RuntimeException failure) {
    return failure instanceof IllegalMonitorStateException;
  }

  private static boolean isInDoubt(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason() == Reason.IN_DOUBT;
  }
}
