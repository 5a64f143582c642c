/**
 * A lock that admits several holders at a time, each of them to a segment of its own. A segment is
 * a plain lock; those that would take any of them have a queue in Redis. Knows no connection and no
 * thread that waits.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code multilock}, {@code scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.segmentedlock;
