/**
 * The Lua scripts and the calls that are made of them: a script with its keys and arguments,
 * encoded and counted. Knows neither connections nor locks.
 *
 * <p>Uses: the JDK.
 */
package io.mortise.scripts;
