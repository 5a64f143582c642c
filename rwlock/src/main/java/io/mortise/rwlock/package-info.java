/**
 * A lock that many readers share, or one writer holds alone, in an unfair and a fair mode. It is
 * two lock protocols with scripts of their own. Knows no connection and no thread that waits.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.rwlock;
