/**
 * The cases: their locks, threads and processes, and the counts of each.
 *
 * <p>Uses: {@code worker}, {@code measure}, {@code locks}.
 */
@NullMarked
package io.mortise.benchmarks.cases;

import org.jspecify.annotations.NullMarked;
