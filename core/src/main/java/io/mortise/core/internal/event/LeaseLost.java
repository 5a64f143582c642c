package io.mortise.core.internal.event;

import io.mortise.core.LeaseLoss;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timestamp;
import org.jspecify.annotations.Nullable;

/** The loss of a hold, one event for each warning in the log. A worker records it. */
@Name("io.mortise.LeaseLost")
@Label("Lease Lost")
@Description("A hold of a distributed lock was lost")
@Category("Mortise")
@StackTrace(false)
final class LeaseLost extends Event {
  @Label("Lock Name")
  @Nullable String lockName;

  @Label("Fencing Token")
  long fencingToken;

  @Label("Reason")
  @Nullable String reason;

  @Label("Detail")
  @Nullable String detail;

  @Label("Lost At")
  @Description("When the hold stopped being valid")
  @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
  long lostAt;

  /** Records a loss, if the event is enabled in a recording. */
  static void record(LeaseLoss loss) {
    LeaseLost event = new LeaseLost();
    if (event.shouldCommit()) {
      event.lockName = loss.lockName();
      event.fencingToken = loss.fencingToken();
      event.reason = loss.reason().name();
      event.detail = loss.detail();
      event.lostAt = loss.at().toEpochMilli();
      event.commit();
    }
  }
}
