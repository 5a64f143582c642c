/**
 * The cases: their locks, threads and processes, and the counts of each.
 *
 * <p>Uses: {@code benchmarks.locks}, {@code benchmarks.measure}, {@code benchmarks.worker}, {@code
 * testkit}.
 */
@NullMarked
package io.mortise.benchmarks.cases;

import org.jspecify.annotations.NullMarked;
