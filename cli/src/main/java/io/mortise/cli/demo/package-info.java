/**
 * The chapters of the demo: what each of them does to its workers and servers, and what it finds.
 *
 * <p>Uses: {@code cli.timeline}, {@code cli.worker}, {@code core}, {@code fairlock}, {@code
 * multilock}, {@code redlock}, {@code rwlock}, {@code segmentedlock}, {@code testkit}.
 */
@NullMarked
package io.mortise.cli.demo;

import org.jspecify.annotations.NullMarked;
