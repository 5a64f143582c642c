/**
 * The acquisition: the only wait loop, its attempts, and its heartbeat.
 *
 * <p>Uses: {@code connection.command}, {@code connection.concurrent}, {@code connection.pool},
 * {@code connection.pubsub}, {@code core}, {@code core.internal.event}, {@code
 * core.internal.handoff}, {@code core.internal.lease}, {@code core.spi}, {@code scripts}.
 */
package io.mortise.core.internal.acquire;
