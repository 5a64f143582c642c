package io.mortise.core.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** A hold, from its grant to its release or loss; the thread is the one that has ended it. */
@Name("io.mortise.LockHold")
@Label("Lock Hold")
@Description("A distributed lock was held, until it was released or the hold was found lost")
@Category("Mortise")
@Threshold("10 ms")
@StackTrace(false)
final class LockHold extends Event {
  @Label("Lock Name")
  @Nullable String lockName;

  @Label("Lock Kind")
  @Nullable String lockKind;

  @Label("Outcome")
  @Description("released or lost")
  @Nullable String outcome;

  @Label("Fencing Token")
  long fencingToken;

  @Label("Local")
  @Description("Whether another thread of the client gave or shared its hold, without a command")
  boolean local;

  @Label("Asked By")
  @Description("The thread that asked for the lock")
  @Nullable String askedBy;
}
