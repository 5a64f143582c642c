/**
 * The results of the demo, as a table, a page with drawings, and JSON; and its progress.
 *
 * <p>Uses: {@code demo}, {@code timeline}.
 */
@NullMarked
package io.mortise.cli.report;

import org.jspecify.annotations.NullMarked;
