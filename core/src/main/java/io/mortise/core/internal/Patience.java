package io.mortise.core.internal;

import io.mortise.core.internal.Gate.Trouble;
import org.jspecify.annotations.Nullable;

/** The faults that one acquisition has met in a row, and whether that has gone on for too long. */
final class Patience {
  private final Engine engine;
  private @Nullable Fault last;
  private long sinceNanos;

  Patience(Engine engine) {
    this.engine = engine;
  }

  /** Notes how an attempt went; null when it was answered, which ends the row. */
  void note(@Nullable Fault fault) {
    if (fault != null && last == null) {
      sinceNanos = engine.nanos();
    }
    last = fault;
  }

  /** Takes over what the one before in the line ran into, as far as this one was waiting then. */
  void inherit(Trouble trouble, long waitingSinceNanos) {
    last = trouble.fault();
    sinceNanos =
        trouble.sinceNanos() - waitingSinceNanos > 0 ? trouble.sinceNanos() : waitingSinceNanos;
  }

  /** The last fault of the row; null when the last attempt was answered. */
  @Nullable Fault last() {
    return last;
  }

  /** Whether there has been no answer for as long as {@code LockOptions.patience} allows. */
  boolean isOver() {
    return last != null && engine.nanos() - sinceNanos >= engine.options().patience().toNanos();
  }
}
