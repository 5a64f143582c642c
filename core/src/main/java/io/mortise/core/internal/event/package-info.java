/**
 * The events of one client: made where something happens, queued, and delivered to the listeners on
 * a thread of their own; and those of Flight Recorder, which the thread commits to which something
 * happens. Without a listener and a recording no event is made.
 *
 * <p>Uses: {@code connection.pool}, {@code connection.topology}, {@code core}, {@code core.spi}.
 */
package io.mortise.core.internal.event;
