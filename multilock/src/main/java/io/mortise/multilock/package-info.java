/**
 * A lock that acquires several locks: all of them, or none. Composes the leases of its members, in
 * one order. Knows no script and no lock family.
 *
 * <p>Uses: {@code core}, {@code core.composite}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.multilock;
