/**
 * What needs no Redis, measured by JMH.
 *
 * <p>Uses: the locks.
 */
package io.mortise.benchmarks.jmh;
