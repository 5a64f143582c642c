/**
 * Locks seen by Micrometer: {@link io.mortise.micrometer.LockMetrics} makes meters of the events of
 * a client, and {@link io.mortise.micrometer.ObservedLock} makes an observation of each wait. Knows
 * no lock family.
 *
 * <p>Uses: {@code core}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.micrometer;
