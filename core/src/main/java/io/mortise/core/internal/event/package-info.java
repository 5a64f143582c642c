/**
 * The events of one client: made where something happens, queued, and delivered to the listeners on
 * a thread of their own. A client without a listener has none of these objects.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code connection}.
 */
package io.mortise.core.internal.event;
