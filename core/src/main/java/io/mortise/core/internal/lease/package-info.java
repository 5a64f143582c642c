/**
 * One hold, from its grant to its end: state, listeners, renewal, release, and the release in the
 * background of holds without a holder. Does not wait for locks.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code connection}.
 */
package io.mortise.core.internal.lease;
