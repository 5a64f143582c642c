/** A lock that acquires several locks: all of them, or none. */
package io.mortise.multilock;
