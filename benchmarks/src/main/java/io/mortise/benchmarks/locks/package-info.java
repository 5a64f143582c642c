/**
 * The locks that are compared, behind one interface: Mortise, Redisson, and bare commands.
 *
 * <p>Uses: the locks.
 */
package io.mortise.benchmarks.locks;
