/**
 * Benchmarks by JMH, of what needs no Redis.
 *
 * <p>Uses: the locks.
 */
@NullMarked
package io.mortise.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
