/**
 * The locks that are compared, behind one interface: Mortise, Redisson, and raw Redis commands.
 *
 * <p>Uses: the locks.
 */
@NullMarked
package io.mortise.benchmarks.locks;

import org.jspecify.annotations.NullMarked;
