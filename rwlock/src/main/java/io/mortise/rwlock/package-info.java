/** A lock that many readers share, or one writer holds alone. */
@org.jspecify.annotations.NullMarked
package io.mortise.rwlock;
