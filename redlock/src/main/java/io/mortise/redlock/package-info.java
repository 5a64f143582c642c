/** One lock on a majority of independent Redis servers. */
@org.jspecify.annotations.NullMarked
package io.mortise.redlock;
