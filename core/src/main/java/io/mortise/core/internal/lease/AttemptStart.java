package io.mortise.core.internal.lease;

/**
 * The moment before an attempt was sent: what its grant counts from.
 *
 * @param nanos the lease runs from here
 * @param epoch of the client: another one at the grant means that whoever looked at the client's
 *     holds in between could not see this one
 */
public record AttemptStart(long nanos, long epoch) {

  /** This moment. The epoch is read first, so that an event is never taken for an earlier one. */
  public static AttemptStart now(LeaseContext context) {
    long epoch = context.holds().epoch();
    return new AttemptStart(context.nanos(), epoch);
  }
}
