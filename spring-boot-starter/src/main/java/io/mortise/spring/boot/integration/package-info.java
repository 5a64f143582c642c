/** The lock registry of Spring Integration, with Mortise's locks. */
@NullMarked
package io.mortise.spring.boot.integration;

import org.jspecify.annotations.NullMarked;
