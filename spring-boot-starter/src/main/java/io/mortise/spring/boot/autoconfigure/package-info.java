/**
 * The configurations of Spring Boot: which beans there are, under which conditions, with which
 * properties. Knows every other package but {@code internal}.
 *
 * <p>Uses: {@code core}, {@code micrometer}, {@code spring.boot}, {@code spring.boot.actuate},
 * {@code spring.boot.integration}, {@code spring.boot.locked}.
 */
@NullMarked
package io.mortise.spring.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
