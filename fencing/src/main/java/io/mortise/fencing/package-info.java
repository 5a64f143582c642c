/**
 * A store in Redis that rejects writes with an old fencing token. Knows leases, tokens, and two
 * scripts of its own; knows no lock family and no connection but the Jedis client that it is given.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.fencing;
