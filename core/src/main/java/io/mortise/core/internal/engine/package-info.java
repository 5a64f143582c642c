/**
 * The client, which wires all of this and closes it in order, and the leases of one lock protocol.
 *
 * <p>Two factories of the API use it, {@code LockClient} and {@code ProtocolLeaseSource}; so do
 * {@code InMemoryRedis} of the test kit and {@code Census} of the command line. The factories and
 * what they make are one cycle of five files, which {@code FilesTest} lists.
 *
 * <p>Uses: {@code connection.command}, {@code connection.concurrent}, {@code connection.pool},
 * {@code connection.pubsub}, {@code connection.topology}, {@code core}, {@code
 * core.internal.acquire}, {@code core.internal.event}, {@code core.internal.handoff}, {@code
 * core.internal.inspect}, {@code core.internal.lease}, {@code core.spi}, {@code scripts}.
 */
package io.mortise.core.internal.engine;
