/**
 * Worker processes of the demo and what they are told: their jobs under a lock, and their events.
 *
 * <p>Uses: the locks.
 */
package io.mortise.cli.worker;
