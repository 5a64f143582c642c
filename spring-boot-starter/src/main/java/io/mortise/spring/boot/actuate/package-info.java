/**
 * What Actuator shows: the health of Redis as locks need it, the endpoint {@code locks}. Uses the
 * API of a client alone.
 */
@NullMarked
package io.mortise.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
