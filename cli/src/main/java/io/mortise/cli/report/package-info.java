/** What the user sees of a demo: progress, table, JSON, and the page with its time lines. */
@org.jspecify.annotations.NullMarked
package io.mortise.cli.report;
