/** A lock that is granted in the order of arrival. */
package io.mortise.fairlock;
