/**
 * Runs the commands of many threads together on one connection (flat combining). Called on the
 * caller's thread; nothing here starts one.
 *
 * <p>Uses: {@code pool}.
 */
package io.mortise.connection.pipeline;
