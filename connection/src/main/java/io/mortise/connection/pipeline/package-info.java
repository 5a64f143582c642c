/**
 * Runs the commands of many threads together on one connection (flat combining). Runs on the
 * threads of the callers; starts no thread.
 *
 * <p>Uses: {@code pool}.
 */
package io.mortise.connection.pipeline;
