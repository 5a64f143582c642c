/**
 * Leases that are composed of other leases. Only for {@code multilock}, {@code redlock}, and holds
 * that threads of one client share.
 *
 * <p>Uses: {@code connection.concurrent}, {@code core}, {@code core.internal.inspect}, {@code
 * core.internal.lease}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.core.composite;
