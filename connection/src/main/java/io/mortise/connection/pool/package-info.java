/**
 * Connections to one server: own or given pools, the master that sentinels name, and what an
 * exception means. Knows Jedis; knows no keys, scripts or locks.
 *
 * <p>Uses: {@code concurrent}.
 */
package io.mortise.connection.pool;
