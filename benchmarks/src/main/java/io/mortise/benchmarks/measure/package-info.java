/**
 * Samples, latencies and medians.
 *
 * <p>Uses: HdrHistogram.
 */
package io.mortise.benchmarks.measure;
