package io.mortise.it.support;

import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.util.List;

/** The holds that somebody believed to have. */
public final class HoldLogs {
  private HoldLogs() {}

  /**
   * All holds of the log, but for those that were written down after their end: there the process
   * was suspended, or starved, between the grant and the record, so it never believed to have a
   * hold that it did not have.
   */
  public static List<HoldLog.Entry> holds(Path log) {
    return HoldLog.read(log).stream()
        .filter(hold -> hold.endNanos().orElse(Long.MAX_VALUE) >= hold.acquiredNanos())
        .toList();
  }
}
