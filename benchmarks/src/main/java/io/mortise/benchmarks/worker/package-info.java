/** The processes that lock, and how they are told what to do. */
@NullMarked
package io.mortise.benchmarks.worker;

import org.jspecify.annotations.NullMarked;
