/**
 * Subscribes the channels of waiters, and subscribes them again after a broken connection. Knows
 * channels; knows no lock.
 *
 * <p>Uses: {@code concurrent}, {@code pool}, {@code topology}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.pubsub;
