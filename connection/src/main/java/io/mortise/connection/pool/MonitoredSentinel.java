package io.mortise.connection.pool;

import io.mortise.connection.pool.SentinelConnection.MasterReport;
import org.jspecify.annotations.Nullable;

/**
 * A sentinel and the result of its last query.
 *
 * <p><b>Threads.</b> The lock of its monitor guards all fields.
 */
final class MonitoredSentinel {
  final SentinelConnection sentinel;
  boolean queryPending;
  @Nullable MasterReport report;
  long reportNanos;
  @Nullable Throwable failure;

  MonitoredSentinel(SentinelConnection sentinel) {
    this.sentinel = sentinel;
  }

  boolean hasReportedSince(long nanos) {
    return report != null && reportNanos - nanos > 0;
  }
}
