/**
 * The hand-off between threads of one client without a command: the local queue, a hold that is
 * transferred, a hold that is shared.
 *
 * <p>Uses: {@code internal.lease}, {@code core.composite} and the packages below.
 */
package io.mortise.core.internal.handoff;
