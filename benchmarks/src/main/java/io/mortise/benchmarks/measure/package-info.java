/**
 * Samples, latencies and medians.
 *
 * <p>Uses: no other package of Mortise.
 */
@NullMarked
package io.mortise.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
