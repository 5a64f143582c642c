/**
 * The interface for adding a lock family: a {@link io.mortise.core.spi.LockProtocol} with its
 * scripts, and the lock that the client makes of it.
 */
package io.mortise.core.spi;
