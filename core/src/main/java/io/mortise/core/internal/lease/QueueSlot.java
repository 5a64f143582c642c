package io.mortise.core.internal.lease;

import org.jspecify.annotations.Nullable;

/** The place in the line that a hold keeps: whoever ends the hold gives it up, once. */
public interface QueueSlot {

  /** Whether somebody of this client waits for the end of the hold. */
  boolean hasWaiters();

  /** The next in line asks Redis. */
  void release();

  /**
   * The next in line has the hold.
   *
   * @return the hold when nobody is left in the line: the caller's, to be released
   */
  @Nullable TransferableHold passOn(TransferableHold hold);
}
