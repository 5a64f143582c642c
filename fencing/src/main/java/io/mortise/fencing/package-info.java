/** A store in Redis that rejects writes with an old fencing token. */
package io.mortise.fencing;
