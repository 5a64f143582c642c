/**
 * The client, which wires all of this and closes it in order, and the leases of one lock protocol.
 *
 * <p>Uses: everything below. Nothing uses it but two factories of the API.
 */
package io.mortise.core.internal.engine;
