/**
 * A Redis inside the JVM: data, scripts, publish and subscribe, and its wire format. Knows nothing
 * of locks. Every command runs on the thread that sends it; nothing here starts a thread.
 *
 * <p>Uses: no other package of Mortise.
 */
package io.mortise.testkit.memory;
