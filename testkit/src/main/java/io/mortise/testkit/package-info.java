/**
 * Tools for tests of locks: Redis processes, faults, child JVMs, a log of holds, the contract of a
 * lock, and clients on the Redis in memory. Knows the API of locks, and no lock family.
 *
 * <p>Uses: {@code core}, {@code core.internal.engine}, {@code core.spi}, {@code testkit.memory}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.testkit;
