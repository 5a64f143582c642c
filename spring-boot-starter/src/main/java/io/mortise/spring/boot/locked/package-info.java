/**
 * The advice of {@code @Locked}: which methods have it, what their locks are named, and when they
 * are released. Knows Spring's AOP, expressions and, if it is there, transactions; knows nothing of
 * Spring Boot but the form of its durations.
 *
 * <p>Uses: {@code core}, {@code core.spi}, {@code spring.boot}, {@code spring.boot.internal}.
 */
@NullMarked
package io.mortise.spring.boot.locked;

import org.jspecify.annotations.NullMarked;
