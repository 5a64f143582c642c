/** The API that every lock shares, and the plain lock. */
package io.mortise.core;
