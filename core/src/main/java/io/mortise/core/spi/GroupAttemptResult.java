package io.mortise.core.spi;

import java.util.List;

/** What came of an attempt to take all of a group of locks. */
public sealed interface GroupAttemptResult {
  /**
   * All are held.
   *
   * @param leases in the order of the sources
   */
  record Acquired(List<OwnedLease> leases) implements GroupAttemptResult {}

  /**
   * Somebody else holds one of them, or waits in line for it; none is held.
   *
   * @param index the first of them in the order of the sources
   */
  record Busy(int index) implements GroupAttemptResult {}
}
