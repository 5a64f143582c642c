/**
 * The client, which wires all of this and closes it in order, and the leases of one lock protocol.
 *
 * <p>Uses: everything below. Nothing uses it but two factories of the API: {@code LockClient} and
 * {@code RedisLockClient} know each other, and {@code ProtocolLeaseSource} and {@code
 * RedisLeaseSource}. These two pairs are the only cycles between files of {@code core}.
 */
package io.mortise.core.internal.engine;
