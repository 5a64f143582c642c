/**
 * The table, the charts, the files and the progress of a run.
 *
 * <p>Uses: {@code benchmarks.cases}, {@code benchmarks.locks}, {@code benchmarks.measure}.
 */
@NullMarked
package io.mortise.benchmarks.report;

import org.jspecify.annotations.NullMarked;
