package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;

/**
 * The moment before an attempt is sent: the lease of its grant counts from here.
 *
 * @param nanos the start of the lease
 * @param epoch the client's epoch; if it has changed when the grant arrives, a check of the
 *     client's holds in between could not see this one
 */
public record AttemptStart(long nanos, long epoch) {

  /**
   * Returns the current moment. The epoch is read first, so that an event is never taken for an
   * earlier one. From now on the clocks are watched: the hold may be granted before a suspension of
   * the machine, and registered after it.
   */
  public static AttemptStart now(HoldRegistry holds, Ticker ticker) {
    long epoch = holds.epochOfAttempt();
    return new AttemptStart(ticker.read(), epoch);
  }
}
