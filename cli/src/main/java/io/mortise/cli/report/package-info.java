/**
 * What the demo found, as a table, a page with drawings, and JSON.
 *
 * <p>Uses: {@code demo}, {@code timeline}.
 */
package io.mortise.cli.report;
