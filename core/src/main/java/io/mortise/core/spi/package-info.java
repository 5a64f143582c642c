/**
 * The interfaces and classes of which a lock family is made: a {@link
 * io.mortise.core.spi.LockProtocol} with its scripts, and the lock that the client makes of it, a
 * {@link io.mortise.core.spi.LeaseBackedLock}. Users of locks do not need it.
 *
 * <p><b>What may change.</b> A minor version may add methods with a default to the interfaces that
 * a family implements ({@code LockProtocol} and the interfaces of optional abilities beside it),
 * and methods without a default to those that the engine implements ({@code LeaseSource}, {@code
 * OwnedLease}, {@code RedisDeployment}). It removes nothing, and a family that is compiled against
 * an older minor version goes on working.
 *
 * <p>Uses: {@code connection.concurrent}, {@code core}, {@code core.internal.engine}, {@code
 * scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.core.spi;
