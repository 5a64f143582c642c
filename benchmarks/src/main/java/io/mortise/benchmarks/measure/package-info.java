/**
 * Samples, latencies and medians.
 *
 * <p>Uses: HdrHistogram.
 */
@NullMarked
package io.mortise.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
