package io.mortise.core.spi;

import io.mortise.core.Lease;
import io.mortise.scripts.ScriptCall;
import java.util.function.Consumer;

/**
 * The commands that a lock family sends to Redis, and the interpretation of their replies. A family
 * adds a protocol and its scripts; the client implements waiting, renewal, ownership and release.
 * The abilities of single families are in {@link QueueingProtocol}, {@link CallerAwareProtocol},
 * {@link RunProtocol}, {@link NotifyingProtocol} and {@link GroupProtocol}.
 *
 * <p>Every call that an implementation creates is safe to repeat, except {@link #forceRelease}: a
 * holder id identifies one acquisition and is never used again.
 *
 * <p><b>Threads.</b> An implementation is immutable; any thread may call it.
 */
public interface LockProtocol {

  /** Returns the lock's name. */
  LockName name();

  /**
   * Returns the family, in a few lower-case words, as {@code LockEvent.lockKind} shows it. Two
   * locks of one client are the same if kind and name are.
   */
  String kind();

  /**
   * Returns whether the threads of one client may queue inside the JVM, so that only the first of
   * them sends commands to Redis. False when Redis itself keeps the order, or when several threads
   * may hold the lock.
   */
  boolean usesLocalQueue();

  /** Returns the field of a holder in the lock's hash. */
  default String hashField(String holder) {
    return holder;
  }

  /** Returns the channel whose messages wake an acquisition that waits. */
  String channel(String holder);

  /**
   * Returns the channel instead of {@link #channel} for an acquisition whose last attempt was
   * answered {@link AcquireResult.Queued}, unless a client of Redisson holds the lock.
   */
  default String channelWhenQueued(String holder) {
    return channel(holder);
  }

  /**
   * Returns an attempt to acquire.
   *
   * @param waits whether the caller waits if the lock is busy: a family with a queue in Redis joins
   *     it only then
   * @param successors how many more threads of this client the grant may serve, one after the
   *     other, with a fencing token for each, which follows that of the one before; 0 unless {@link
   *     #allowsHandOff}, or this is a {@link RunProtocol}
   */
  ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors);

  /**
   * Returns whether the client may hand a hold from thread to thread without a command to Redis, as
   * {@link io.mortise.core.LockTuning#maxHandOffs} allows: for a family that promises no order
   * between waiters. Other clients go first afterwards. A hold that an acquisition of its owner
   * depends on is not handed off, see {@link CallerAwareProtocol.Caller}.
   */
  default boolean allowsHandOff() {
    return false;
  }

  /**
   * Returns whether threads of one client may share one hold in Redis: for a family whose holds do
   * not exclude each other, and that keeps no order. Bounded as the hand-offs are. The threads that
   * ask Redis then queue inside the JVM, and the threads behind join the hold of the first.
   */
  default boolean allowsSharing() {
    return false;
  }

  /** Reads the reply to {@link #acquire}: integers are {@code Long}, arrays are {@code List}. */
  AcquireResult outcome(Object reply);

  /**
   * Returns the protocol of the hold that a reply to {@link #acquire} granted: this one, unless the
   * attempt selects one of several locks. Its {@link #release} releases whatever an attempt under
   * that holder id may have acquired.
   */
  default LockProtocol granted(Object reply) {
    return this;
  }

  /**
   * Returns the lease object for the user of a hold: a {@link LeakDetectingLease} of these
   * arguments.
   */
  default Lease guard(OwnedLease lease, boolean traced, Consumer<Runnable> worker) {
    return new LeakDetectingLease(lease, traced, worker);
  }

  /**
   * Returns a release. Its reply is an array: 1 and the number of subscribers that received the
   * message; 0 when this holder holds nothing; 2 when the hold was released by force; 3 when it had
   * nothing but a registration as a waiter.
   */
  ScriptCall release(String holder);

  /**
   * Returns a call that removes whatever an acquisition may have left in Redis, when the client
   * does not know what. Its reply is an array, whose first element is 0 when there was nothing.
   */
  default ScriptCall leave(String holder) {
    return release(holder);
  }

  /**
   * Returns a release that keeps the lock busy for the rest of the hold's minimum: under another
   * holder, which no client has, so that no late or repeated call of this holder finds it. Its
   * reply is that of {@link #release}.
   *
   * @param restMillis at least 1
   */
  ScriptCall keep(String holder, long restMillis);

  /**
   * Returns a renewal as one item of a batch script: the hold lasts at least for the lease from
   * now, and is never shortened. Its reply for each item: 1 when renewed, 0 when this holder holds
   * nothing, 2 when the hold was released by force.
   */
  ScriptCall renew(String holder, long leaseMillis);

  /**
   * Returns the longest time between two renewals of a hold, whatever its lease: for a family whose
   * holds a peer may shorten, which the next renewal repairs.
   */
  default long maxRenewalIntervalMillis() {
    return Long.MAX_VALUE;
  }

  /**
   * Returns a forced release. Its reply: 1 when the lock was held, otherwise 0. Sent at most once,
   * because a repetition could hit the next holder.
   */
  ScriptCall forceRelease();

  /**
   * Returns a query of the lease. Its reply: the remaining lease in ms; -1 when the lock is held
   * without an end, -2 when it is not held.
   */
  ScriptCall queryLease();
}
