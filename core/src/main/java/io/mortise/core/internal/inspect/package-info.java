/**
 * Questions: who holds a lock and who waits for it, and whether Redis is there and fit for locks.
 * Nothing here takes part in locking.
 *
 * <p>{@code LockInspector} asks about a lock, {@code HealthCheck} about the servers. {@code
 * ClientRecord} writes what other clients read of this one.
 *
 * <p>Uses: {@code connection.command}, {@code connection.concurrent}, {@code connection.pool},
 * {@code connection.topology}, {@code core}, {@code core.internal.lease}, {@code core.spi}, {@code
 * scripts}.
 */
package io.mortise.core.internal.inspect;
