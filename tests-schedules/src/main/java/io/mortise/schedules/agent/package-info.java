/**
 * The Java agent that rewrites classes: each access to shared memory, each lock and each wait
 * becomes a call of the runtime. Knows byte code, and names the runtime's classes only in it.
 *
 * <p>Uses: no other package of Mortise.
 */
package io.mortise.schedules.agent;
