/**
 * A Redis inside the JVM: data, scripts, publish and subscribe, and its wire format. Knows nothing
 * of locks. Every command runs on the thread that sends it; nothing here starts a thread.
 */
package io.mortise.testkit.memory;
