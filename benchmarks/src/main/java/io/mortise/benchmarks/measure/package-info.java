/** Samples, medians, ratios: the arithmetic. */
@NullMarked
package io.mortise.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
