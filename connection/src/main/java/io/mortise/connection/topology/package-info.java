/**
 * Topologies: they find the server that has a key, which is the only one, the master that sentinels
 * name, or a node of a cluster. They follow redirections and failovers.
 *
 * <p>Uses: {@code connection.concurrent}, {@code connection.pipeline}, {@code connection.pool}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.topology;
