/** A lock that acquires several locks: all of them, or none. */
@org.jspecify.annotations.NullMarked
package io.mortise.multilock;
