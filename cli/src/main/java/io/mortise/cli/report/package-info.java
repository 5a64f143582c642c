/**
 * The results of the demo, as a table, a page with drawings, and JSON; and its progress.
 *
 * <p>Uses: {@code cli.demo}, {@code cli.text}, {@code cli.timeline}, {@code cli.worker}.
 */
@NullMarked
package io.mortise.cli.report;

import org.jspecify.annotations.NullMarked;
