/**
 * One hold, from its grant to its end: state, times, listeners, renewal, release, the release in
 * the background of holds without a holder, and the fairness between clients after a release. Does
 * not wait for locks.
 *
 * <p>{@code RedisLease} is the facade. Its parts do not know it; they know only parts before them:
 * {@code LeaseStateMachine}, {@code LeaseTiming}, {@code FencingToken}, {@code LossDetector},
 * {@code LeaseRenewal}, {@code LeaseExtension}, {@code LeaseTermination}, {@code LeaseRelease}.
 * {@code RegisteredHold} is the facade as {@code HoldRegistry} and the parts see it, so there is no
 * cycle between files.
 *
 * <p>Uses: {@code connection.command}, {@code connection.concurrent}, {@code connection.pool},
 * {@code core}, {@code core.internal.event}, {@code core.spi}, {@code scripts}.
 */
package io.mortise.core.internal.lease;
