/**
 * The chapters of the demo: what each of them does to its workers and servers, and what it finds.
 *
 * <p>Uses: {@code worker}, {@code timeline}, and the test kit.
 */
@NullMarked
package io.mortise.cli.demo;

import org.jspecify.annotations.NullMarked;
