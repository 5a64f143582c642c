/**
 * Runs scripts: one, many in one round trip, the batches of the scheduler, and attempts with the
 * acknowledgement of replicas. Knows scripts; knows no lock.
 *
 * <p>Uses: {@code connection.concurrent}, {@code connection.pipeline}, {@code connection.pool},
 * {@code connection.topology}, {@code scripts}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.command;
