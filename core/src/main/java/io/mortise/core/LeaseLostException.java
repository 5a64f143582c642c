package io.mortise.core;

/**
 * The caller held the lock, and lost it before it gave it up. What it did since then was not
 * protected.
 */
public final class LeaseLostException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 1L;

  private final transient LeaseLoss loss;

  /** Made by the locks; public for those who write a lock family of their own. */
  public LeaseLostException(LeaseLoss loss) {
    super(
        "lock '%s': the lease with fencing token %d was lost %d ms ago: %s"
            .formatted(loss.lockName(), loss.fencingToken(), loss.age().toMillis(), loss.detail()));
    this.loss = loss;
  }

  /** When and why the lease was lost. Not serialized. */
  public LeaseLoss loss() {
    return loss;
  }
}
