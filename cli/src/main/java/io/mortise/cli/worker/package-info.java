/**
 * Worker processes of the demo: their requests, their jobs under a lock, and their events.
 *
 * <p>Uses: the locks.
 */
@NullMarked
package io.mortise.cli.worker;

import org.jspecify.annotations.NullMarked;
