/**
 * The acquisition: the only wait loop, its attempts, its heartbeat, and the fairness between
 * clients.
 *
 * <p>Uses: {@code internal.handoff}, {@code internal.lease}, {@code connection}.
 */
package io.mortise.core.internal.acquire;
