/** The {@code bench} command: options, rounds, and who takes part. */
@NullMarked
package io.mortise.benchmarks;

import org.jspecify.annotations.NullMarked;
