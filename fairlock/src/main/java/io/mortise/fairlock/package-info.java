/** A lock that is granted in the order of arrival. */
@org.jspecify.annotations.NullMarked
package io.mortise.fairlock;
