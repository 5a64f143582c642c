/**
 * The runtime of a schedule: it runs one thread at a time, in virtual time, and a seed decides
 * which. The rewritten classes call it. Knows no lock and no Redis.
 *
 * <p>Uses: no other package of Mortise.
 */
package io.mortise.schedules.runtime;
