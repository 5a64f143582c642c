package io.mortise.core.internal.lease;

/**
 * The threads that share a hold which does not belong to one thread.
 *
 * <p><b>Threads.</b> Any thread may call it.
 */
@FunctionalInterface
public interface HoldSharers {
  /** Returns whether all of them have died without unlocking. */
  boolean areDead();
}
