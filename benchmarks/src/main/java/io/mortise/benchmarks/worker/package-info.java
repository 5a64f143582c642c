/**
 * Worker processes, their threads and their reports.
 *
 * <p>Uses: {@code locks}, {@code measure}.
 */
@NullMarked
package io.mortise.benchmarks.worker;

import org.jspecify.annotations.NullMarked;
