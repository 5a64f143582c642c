package io.mortise.core;

/**
 * Thrown when the caller held the lock and lost it before releasing it. Its actions since the loss
 * were not protected by the lock.
 */
public final class LeaseLostException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 2L;

  private final LeaseLoss loss;

  /** Creates the exception; public for implementations of other lock families. */
  public LeaseLostException(LeaseLoss loss) {
    super(
        "lock '%s': the lease with fencing token %d was lost %d ms ago: %s"
            .formatted(loss.lockName(), loss.fencingToken(), loss.age().toMillis(), loss.detail()));
    this.loss = loss;
  }

  /** Returns when and why the lease was lost. */
  public LeaseLoss loss() {
    return loss;
  }
}
