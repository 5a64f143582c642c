/**
 * The API of every lock: the lock, its lease, the client, its options and listeners, and the plain
 * lock. Knows no other lock family, and from the engine only the factory of clients.
 *
 * <p>Here and in the packages of the lock families an argument that is null is refused at once by a
 * {@code NullPointerException} with the name of the parameter, unless its type is marked as
 * nullable.
 *
 * <p>Uses: {@code core.internal.engine}, {@code core.spi}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.core;
