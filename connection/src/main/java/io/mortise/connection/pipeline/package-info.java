/**
 * Runs the commands of many threads together on one connection (flat combining). Runs on the
 * threads of the callers; starts no thread.
 *
 * <p>Uses: {@code connection.concurrent}, {@code connection.pool}.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.connection.pipeline;
