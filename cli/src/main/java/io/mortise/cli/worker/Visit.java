package io.mortise.cli.worker;

/**
 * A stay in the critical section that has begun.
 *
 * @param token the fencing token, 0 without a lock
 * @param askedNanos since when the thread waited
 * @param enteredNanos since when it is inside
 */
public record Visit(long token, long askedNanos, long enteredNanos) {}
