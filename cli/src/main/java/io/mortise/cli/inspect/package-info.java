/**
 * The reports of {@code inspect}, {@code force} and {@code doctor}: locks, those who hold them and
 * wait for them, and the health of servers, as tables and as JSON. Asks Redis through the client.
 *
 * <p>Uses: {@code cli.options}, {@code cli.text}, {@code core}, {@code core.internal.engine},
 * {@code core.internal.inspect}, {@code core.spi}, {@code fairlock}, {@code rwlock}, {@code
 * segmentedlock}.
 */
@NullMarked
package io.mortise.cli.inspect;

import org.jspecify.annotations.NullMarked;
