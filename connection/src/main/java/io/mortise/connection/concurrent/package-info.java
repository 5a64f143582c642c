/**
 * Threads and time: a scheduler, worker threads, signals, counters, back-off. Knows nothing of
 * Redis.
 *
 * <p>Uses: the JDK and Guava.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.concurrent;
