/**
 * Connections to one server: the client's own pool or that of a Jedis client, the master that
 * sentinels name, and the classification of exceptions. Knows Jedis; knows no keys, scripts or
 * locks.
 *
 * <p>Uses: {@code connection.concurrent}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.pool;
