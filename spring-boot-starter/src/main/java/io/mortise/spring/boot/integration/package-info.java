/**
 * The lock registry of Spring Integration, with plain locks. Knows the API of a client and Spring
 * Integration; knows no other part of the starter.
 *
 * <p>Uses: {@code core}.
 */
@NullMarked
package io.mortise.spring.boot.integration;

import org.jspecify.annotations.NullMarked;
