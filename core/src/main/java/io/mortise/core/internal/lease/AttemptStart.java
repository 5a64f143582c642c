package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;

/**
 * The moment before an attempt is sent: the lease of its grant counts from here.
 *
 * @param nanos the start of the lease
 * @param epoch the client's epoch; if it has changed before the grant arrives, a verification of
 *     all holds in between did not include this one
 */
public record AttemptStart(long nanos, long epoch) {

  /** Returns this moment. The epoch is read first, so that an event in between is not missed. */
  public static AttemptStart now(HoldRegistry holds, Ticker ticker) {
    long epoch = holds.epoch();
    return new AttemptStart(ticker.read(), epoch);
  }
}
