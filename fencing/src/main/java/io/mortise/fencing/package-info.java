/** A store in Redis that rejects writes with an old fencing token. */
@org.jspecify.annotations.NullMarked
package io.mortise.fencing;
