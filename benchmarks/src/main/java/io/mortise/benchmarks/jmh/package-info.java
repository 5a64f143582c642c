/**
 * Benchmarks by JMH, of what needs no Redis.
 *
 * <p>Uses: {@code core}, {@code testkit}.
 */
@NullMarked
package io.mortise.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
