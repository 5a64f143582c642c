/**
 * The holds of the workers over time: lanes, gaps, overlaps, and the order of the waiters.
 *
 * <p>Uses: the JDK.
 */
package io.mortise.cli.timeline;
