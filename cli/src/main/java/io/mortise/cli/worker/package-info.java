/** Worker processes: what they are told, what they report, and how they are started and stopped. */
@org.jspecify.annotations.NullMarked
package io.mortise.cli.worker;
