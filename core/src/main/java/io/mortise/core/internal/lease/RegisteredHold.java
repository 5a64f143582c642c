package io.mortise.core.internal.lease;

import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.scripts.ScriptCall;

/**
 * A hold as {@link HoldRegistry} knows it, and as the parts of the hold report to it. While it is
 * registered, it is a task of the scheduler, which renews it.
 *
 * <p><b>Threads.</b> Any thread may call any method but those of the scheduler.
 */
public interface RegisteredHold extends Lease, ScheduledTask {

  /** Returns the release as it has to be sent now. */
  ScriptCall releaseCall();

  /** Ends the hold as lost; returns false if it has ended or its release has begun. */
  boolean lose(Reason reason, long atNanos, String detail);

  /** See {@link LeaseTermination#discard}. */
  void discard();

  /** Requests a verification soon; if a request is under way, after its reply. */
  void requestVerification();

  /** Verifies the hold and waits for the reply; without one, requests a verification soon. */
  void verifyQuietly();
}
