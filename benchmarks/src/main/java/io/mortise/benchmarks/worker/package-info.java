/**
 * Worker processes, their threads, and what they count.
 *
 * <p>Uses: {@code locks}, {@code measure}.
 */
package io.mortise.benchmarks.worker;
