/**
 * A lock that is granted in the order of arrival, over all processes. It is a lock protocol:
 * scripts with a queue in Redis. Knows no connection and no thread that waits.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.fairlock;
