/**
 * The parts for Actuator: the health of Redis as locks need it, the endpoint {@code locks}. Knows
 * the API of a client alone.
 *
 * <p>Uses: {@code core}.
 */
@NullMarked
package io.mortise.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
