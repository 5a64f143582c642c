/**
 * Runs scripts: one, many in one round trip, the batches of the scheduler, and attempts with the
 * acknowledgement of replicas. Knows scripts; knows no lock.
 *
 * <p>Uses: {@code concurrent}, {@code pool}, {@code pipeline}, {@code topology}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.command;
