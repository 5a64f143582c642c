/**
 * Which server has which key: one server, the master of sentinels, or a cluster. Follows
 * redirections and failovers.
 *
 * <p>Uses: {@code concurrent}, {@code pool}, {@code pipeline}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.topology;
