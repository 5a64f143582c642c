/**
 * Worker processes of the demo: their requests, their jobs under a lock, and their events.
 *
 * <p>Uses: {@code core}, {@code testkit}.
 */
@NullMarked
package io.mortise.cli.worker;

import org.jspecify.annotations.NullMarked;
