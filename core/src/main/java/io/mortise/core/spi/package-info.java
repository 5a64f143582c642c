/**
 * For those who add a lock family: what a family says (a {@link io.mortise.core.spi.LockProtocol}
 * and its scripts), and the lock that the engine makes of it.
 */
package io.mortise.core.spi;
