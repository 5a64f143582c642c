/**
 * The configurations of Spring Boot: which beans there are, under which conditions, with which
 * properties. May use every other package.
 */
@NullMarked
package io.mortise.spring.boot.autoconfigure;

import org.jspecify.annotations.NullMarked;
