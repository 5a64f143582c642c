/**
 * The leases of the methods that a thread runs: written by the advice, read by the API. Knows no
 * Spring.
 *
 * <p>Uses: {@code core}.
 */
@NullMarked
package io.mortise.spring.boot.internal;

import org.jspecify.annotations.NullMarked;
