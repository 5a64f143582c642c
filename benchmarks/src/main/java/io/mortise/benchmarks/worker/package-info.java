/**
 * Worker processes, their threads and their reports.
 *
 * <p>Uses: {@code benchmarks.locks}, {@code benchmarks.measure}, {@code testkit}.
 */
@NullMarked
package io.mortise.benchmarks.worker;

import org.jspecify.annotations.NullMarked;
