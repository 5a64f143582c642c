/**
 * The Lua scripts and their calls: a script with its keys and arguments, encoded and counted.
 * Independent of connections and locks.
 *
 * <p>Uses: no other package of Mortise.
 */
@org.jspecify.annotations.NullMarked
package io.mortise.scripts;
