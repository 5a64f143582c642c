/**
 * The hand-off between threads of one client without a command: the local queue, a hold that is
 * transferred, a hold that is shared.
 *
 * <p>Uses: {@code connection.concurrent}, {@code connection.pool}, {@code core}, {@code
 * core.composite}, {@code core.internal.event}, {@code core.internal.lease}, {@code core.spi}.
 */
package io.mortise.core.internal.handoff;
