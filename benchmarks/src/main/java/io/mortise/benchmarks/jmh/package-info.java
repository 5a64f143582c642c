/** What happens inside the JVM alone, measured by JMH. */
@NullMarked
package io.mortise.benchmarks.jmh;

import org.jspecify.annotations.NullMarked;
