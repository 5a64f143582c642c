/**
 * The {@code bench} command: options, rounds, and the contenders. Knows the cases by their names,
 * and no lock.
 *
 * <p>Uses: {@code benchmarks.cases}, {@code benchmarks.jmh}, {@code benchmarks.locks}, {@code
 * benchmarks.measure}, {@code benchmarks.report}, {@code testkit}.
 */
@NullMarked
package io.mortise.benchmarks;

import org.jspecify.annotations.NullMarked;
