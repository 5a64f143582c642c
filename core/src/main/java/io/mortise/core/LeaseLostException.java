package io.mortise.core;

import java.util.Objects;

/**
 * Thrown when the caller held the lock and lost it before releasing it. Its actions since the loss
 * were not protected by the lock. A thread that locks again, and does not know of the loss yet,
 * gets it too, once.
 */
public final class LeaseLostException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 2L;

  private final LeaseLoss loss;

  /** Creates the exception; public for implementations of other lock families. */
  public LeaseLostException(LeaseLoss loss) {
    super(
        "lock '%s': the lease with fencing token %d was lost %d ms ago: %s"
            .formatted(
                Objects.requireNonNull(loss, "loss").lockName(),
                loss.fencingToken(),
                loss.age().toMillis(),
                loss.detail()));
    this.loss = loss;
  }

  private LeaseLostException(LeaseLoss loss, String message) {
    super(message);
    this.loss = loss;
  }

  /**
   * Creates the exception for a thread that locks again and does not know that it has lost its
   * hold; public for implementations of other lock families.
   */
  public static LeaseLostException whenLockingAgain(LeaseLoss loss) {
    Objects.requireNonNull(loss, "loss");
    return new LeaseLostException(
        loss,
        ("lock '%s': the earlier hold of this thread, with fencing token %d, was lost %d ms ago: %s;"
                + " undo what depends on it, then lock again")
            .formatted(loss.lockName(), loss.fencingToken(), loss.age().toMillis(), loss.detail()));
  }

  /** Returns when and why the lease was lost. */
  public LeaseLoss loss() {
    return loss;
  }
}
