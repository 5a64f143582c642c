/**
 * Subscribes the channels of waiters, and subscribes them again after a broken connection. Knows
 * channels; knows no lock.
 *
 * <p>Uses: {@code connection.concurrent}, {@code connection.pool}, {@code connection.topology}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.pubsub;
