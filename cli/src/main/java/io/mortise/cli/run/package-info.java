/**
 * Runs a command under a lock: starts it, passes signals on to it, and ends it when the lock is
 * lost. Knows a lock and a lease; knows no options, and not where Redis is.
 *
 * <p>Uses: {@code cli.options}, {@code core}.
 */
@NullMarked
package io.mortise.cli.run;

import org.jspecify.annotations.NullMarked;
