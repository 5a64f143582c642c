/** A lock that many readers hold together, or one writer alone. */
package io.mortise.rwlock;
