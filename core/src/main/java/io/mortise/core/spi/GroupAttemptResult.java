package io.mortise.core.spi;

import java.util.List;

/** The result of an attempt to acquire all locks of a group. */
public sealed interface GroupAttemptResult {
  /**
   * All locks are held.
   *
   * @param leases in the order of the sources
   */
  record Acquired(List<OwnedLease> leases) implements GroupAttemptResult {}

  /**
   * One of the locks is held by another owner, or a thread of the client waits for it; none is
   * held.
   *
   * @param index the index of the first busy lock in the order of the sources
   */
  record Busy(int index) implements GroupAttemptResult {}
}
