/**
 * The {@code mortise} command: its options, and the way from them to a report.
 *
 * <p>Uses: {@code cli.demo}, {@code cli.inspect}, {@code cli.options}, {@code cli.report}, {@code
 * cli.run}, {@code cli.text}, {@code core}.
 */
@NullMarked
package io.mortise.cli;

import org.jspecify.annotations.NullMarked;
