/**
 * One lock on a majority of independent Redis servers. Composes the leases of its nodes, and agrees
 * on one fencing token. Knows no script and no lock family.
 *
 * <p>Uses: {@code core}, {@code core.composite}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.redlock;
