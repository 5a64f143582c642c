/**
 * What threads of one client leave to each other without asking Redis: the local queue, a hold that
 * is transferred, a hold that is shared.
 *
 * <p>Uses: {@code internal.lease}, {@code core.composite} and what is below.
 */
package io.mortise.core.internal.handoff;
