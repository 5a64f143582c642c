/** A lock that many readers share, or one writer holds alone. */
package io.mortise.rwlock;
