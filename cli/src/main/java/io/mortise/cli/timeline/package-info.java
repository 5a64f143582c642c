/**
 * The holds of the workers over time: lanes, gaps, overlaps, and the order of the waiters.
 *
 * <p>Uses: {@code cli.worker}, {@code testkit}.
 */
@NullMarked
package io.mortise.cli.timeline;

import org.jspecify.annotations.NullMarked;
