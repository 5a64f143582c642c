/** Redis processes, faults, child JVMs, a log of holds, and the contract of a lock. */
package io.mortise.testkit;
