/** The API that every lock shares, and the plain lock. */
@org.jspecify.annotations.NullMarked
package io.mortise.core;
