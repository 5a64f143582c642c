package io.mortise.it.support;

import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.util.List;

/** Reads logs of holds. */
public final class HoldLogs {
  private HoldLogs() {}

  /**
   * Returns the holds of a log, without those that were recorded after their end: the process was
   * suspended or starved between the grant and the record, and never relied on a lost hold.
   */
  public static List<HoldLog.Entry> holds(Path log) {
    return HoldLog.read(log).stream()
        .filter(hold -> hold.endNanos().orElse(Long.MAX_VALUE) >= hold.acquiredNanos())
        .toList();
  }
}
