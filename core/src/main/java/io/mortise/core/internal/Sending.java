package io.mortise.core.internal;

/**
 * The moment before an attempt was sent: what its grant counts from.
 *
 * @param nanos the lease runs from here
 * @param epoch of the client: another one at the grant means that whoever looked at the client's
 *     holds in between could not see this one
 */
record Sending(long nanos, long epoch) {

  /** This moment. The epoch is read first, so that an event is never taken for an earlier one. */
  static Sending now(LeaseContext context) {
    long epoch = context.holds().epoch();
    return new Sending(context.nanos(), epoch);
  }
}
