/**
 * The locks that are compared, behind one interface: Mortise, Redisson, and bare commands.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code fairlock}, {@code micrometer}, {@code multilock},
 * {@code redlock}, {@code rwlock}, {@code scripts}.
 */
@NullMarked
package io.mortise.benchmarks.locks;

import org.jspecify.annotations.NullMarked;
