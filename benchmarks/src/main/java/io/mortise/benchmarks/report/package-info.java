/** What is made of the results: a table, JSON, charts. */
@NullMarked
package io.mortise.benchmarks.report;

import org.jspecify.annotations.NullMarked;
