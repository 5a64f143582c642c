/**
 * The parts that several commands share: the options of connection, lock and output, the exit
 * status, times, and failures with a message for the user. Knows the locks; knows no command.
 *
 * <p>Uses: {@code cli.text}, {@code core}, {@code fairlock}, {@code redlock}, {@code rwlock}.
 */
@NullMarked
package io.mortise.cli.options;

import org.jspecify.annotations.NullMarked;
