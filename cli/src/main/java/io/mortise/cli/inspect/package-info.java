/**
 * What {@code inspect}, {@code force} and {@code doctor} show: locks, those who hold them and wait
 * for them, and the health of servers, as tables and as JSON. Asks Redis through the client.
 *
 * <p>Uses: {@code text}, {@code options}.
 */
@NullMarked
package io.mortise.cli.inspect;

import org.jspecify.annotations.NullMarked;
