/** The {@code mortise} command. */
@org.jspecify.annotations.NullMarked
package io.mortise.cli;
