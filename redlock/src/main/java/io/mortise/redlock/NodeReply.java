package io.mortise.redlock;

import org.jspecify.annotations.Nullable;

/**
 * The reply of a node.
 *
 * @param value null when the call failed
 * @param failure null when the call succeeded
 */
record NodeReply<T>(@Nullable T value, @Nullable RuntimeException failure) {}
