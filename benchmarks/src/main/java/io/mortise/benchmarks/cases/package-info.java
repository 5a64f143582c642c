/** What is measured: a class for each case. */
@NullMarked
package io.mortise.benchmarks.cases;

import org.jspecify.annotations.NullMarked;
