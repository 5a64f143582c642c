/**
 * The table, the charts, the files and the progress of a run.
 *
 * <p>Uses: {@code cases}, {@code measure}, {@code locks}.
 */
@NullMarked
package io.mortise.benchmarks.report;

import org.jspecify.annotations.NullMarked;
