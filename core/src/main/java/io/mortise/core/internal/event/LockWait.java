package io.mortise.core.internal.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** An acquisition, from the request to the grant or the end of the wait. */
@Name("io.mortise.LockWait")
@Label("Lock Wait")
@Description("A thread asked for a distributed lock, until it had the lock or gave up")
@Category("Mortise")
@Threshold("10 ms")
final class LockWait extends Event {
  @Label("Lock Name")
  @Nullable String lockName;

  @Label("Lock Kind")
  @Nullable String lockKind;

  @Label("Outcome")
  @Description("acquired, not_acquired (others had the lock all the time), interrupted, or error")
  @Nullable String outcome;

  @Label("Fencing Token")
  @Description("0 if the lock was not acquired")
  long fencingToken;

  @Label("Local")
  @Description("Whether another thread of the client gave or shared its hold, without a command")
  boolean local;

  @Label("Asked By")
  @Description("The thread that asked; another one may wait on its behalf")
  @Nullable String askedBy;

  @Label("Error")
  @Nullable String error;
}
