/**
 * The holds of the workers over time: lanes, gaps, overlaps, and the order of the waiters.
 *
 * <p>Uses: {@code worker}, for the types of events.
 */
@NullMarked
package io.mortise.cli.timeline;

import org.jspecify.annotations.NullMarked;
