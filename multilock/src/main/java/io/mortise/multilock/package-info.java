/** Several locks as one: all of them, or none. */
package io.mortise.multilock;
