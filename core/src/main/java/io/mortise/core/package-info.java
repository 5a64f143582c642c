/**
 * The API of every lock: the lock, its lease, the client, its options and listeners, and the plain
 * lock. Knows no other lock family, and from the engine only the factory of clients.
 *
 * <p>Uses: {@code core.internal.engine}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.core;
