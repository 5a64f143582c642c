/**
 * Leases that are made of leases. For {@code multilock} and {@code redlock} alone, and for holds
 * that threads of one client share.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code internal.lease}.
 */
package io.mortise.core.composite;
