/** A lock that is granted in the order in which it was asked for. */
package io.mortise.fairlock;
