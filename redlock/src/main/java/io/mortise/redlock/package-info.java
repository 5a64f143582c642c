/** One lock on a majority of independent Redis servers. */
package io.mortise.redlock;
