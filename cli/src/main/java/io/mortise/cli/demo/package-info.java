/** The flash sale: its chapters, and what they are played on. */
@org.jspecify.annotations.NullMarked
package io.mortise.cli.demo;
