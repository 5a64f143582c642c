/** The same work done by each subject: Mortise, Redisson, and bare Redis commands. */
@NullMarked
package io.mortise.benchmarks.locks;

import org.jspecify.annotations.NullMarked;
