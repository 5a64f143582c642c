/**
 * The table, the charts and the files of a run.
 *
 * <p>Uses: {@code measure}.
 */
package io.mortise.benchmarks.report;
