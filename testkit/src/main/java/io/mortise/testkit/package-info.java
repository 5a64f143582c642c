/** Redis processes, faults, child JVMs, a log of holds, and the contract of a lock. */
@org.jspecify.annotations.NullMarked
package io.mortise.testkit;
