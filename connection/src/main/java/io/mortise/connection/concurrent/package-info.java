/**
 * Threads and time: a scheduler, worker threads, signals, counters, back-off. Knows nothing of
 * Redis.
 *
 * <p>Uses: no other package of Mortise.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.concurrent;
