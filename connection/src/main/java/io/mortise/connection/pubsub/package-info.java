/**
 * Subscribes the channels of waiters, and subscribes them again after a broken connection. Knows
 * channels; knows no lock.
 *
 * <p>Uses: {@code concurrent}, {@code pool}, {@code topology}.
 */
package io.mortise.connection.pubsub;
