/**
 * The cases: which locks, threads and processes take turns, and what is counted.
 *
 * <p>Uses: {@code worker}, {@code measure}, {@code locks}.
 */
@NullMarked
package io.mortise.benchmarks.cases;

import org.jspecify.annotations.NullMarked;
