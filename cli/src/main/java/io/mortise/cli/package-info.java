/**
 * The {@code mortise} command: its options, and the way from them to a report.
 *
 * <p>Uses: {@code demo}, {@code report}, {@code run}, {@code options}.
 */
@NullMarked
package io.mortise.cli;

import org.jspecify.annotations.NullMarked;
