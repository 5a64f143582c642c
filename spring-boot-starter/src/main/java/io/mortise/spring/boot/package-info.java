/**
 * Mortise in a Spring Boot application: {@link io.mortise.spring.boot.Locked @Locked} on methods,
 * the lease of the method that runs, and the customizer of the options.
 *
 * <p>This package is the API. It knows the API of Mortise and no class of Spring but annotations.
 *
 * <p>Uses: {@code core}, {@code fairlock}, {@code rwlock}, {@code spring.boot.internal}.
 */
@NullMarked
package io.mortise.spring.boot;

import org.jspecify.annotations.NullMarked;
