package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;
import java.util.Optional;

/**
 * The commands that a lock family sends to Redis, and the interpretation of their replies. A family
 * adds a protocol and its scripts; the client implements waiting, renewal, ownership and release.
 *
 * <p>Every call that an implementation creates is safe to repeat, except {@link #forceRelease}: a
 * holder id identifies one acquisition and is never used again.
 *
 * <p><b>Threads.</b> An implementation is immutable; any thread may call it.
 */
public interface LockProtocol {

  /** Returns the lock's name. */
  LockName name();

  /** Returns the family, in one word: two locks of one client are the same if kind and name are. */
  String kind();

  /**
   * Returns whether the threads of one client may queue inside the JVM, so that only the first of
   * them sends commands to Redis. False when Redis itself keeps the order, or when several threads
   * may hold the lock.
   */
  boolean usesLocalQueue();

  /**
   * Returns the protocol of an acquisition that the calling thread begins. Called on that thread,
   * before anything is sent; for a family that depends on what its caller holds already.
   */
  default LockProtocol boundTo(Caller caller) {
    return this;
  }

  /** Returns whether {@link #boundTo} and {@link #selfDeadlock} depend on the caller. */
  default boolean dependsOnCaller() {
    return false;
  }

  /**
   * Returns why the calling thread would wait for itself, and what to do instead; empty when it
   * would not. If present, a wait is refused, and an attempt fails, with nothing sent.
   */
  default Optional<String> selfDeadlock(Caller caller) {
    return Optional.empty();
  }

  /** Returns the field of a holder in the lock's hash. */
  default String hashField(String holder) {
    return holder;
  }

  /** Returns the channel whose messages wake an acquisition that waits. */
  String channel(String holder);

  /**
   * Returns whether every waiter has its own channel: the client then unsubscribes soon after the
   * wait, and may subscribe channels of future waiters ahead. The channel of an empty holder must
   * not be that of another lock.
   */
  default boolean hasChannelPerWaiter() {
    return false;
  }

  /**
   * Returns an attempt to acquire.
   *
   * @param waits whether the caller waits if the lock is busy: a family with a queue in Redis joins
   *     it only then
   */
  ScriptCall acquire(String holder, long leaseMillis, boolean waits);

  /**
   * Returns whether the family promises no order between waiters, so that the client may hand a
   * hold from thread to thread without a command to Redis, as {@link
   * io.mortise.core.LockOptions#maxHandOffs} allows. Other clients go first afterwards.
   */
  default boolean allowsTransfer() {
    return false;
  }

  /**
   * Returns whether threads of one client may share one hold in Redis: for a family whose holds do
   * not exclude each other, and that keeps no order. Bounded as {@link #allowsTransfer}. The
   * threads that ask Redis then queue inside the JVM, and the threads behind join the hold of the
   * first.
   */
  default boolean allowsSharing() {
    return false;
  }

  /**
   * As {@link #acquire(String, long, boolean)}, but reserves several tokens: the one in the reply
   * and those that follow it. Called for more than one only if the family {@link #allowsTransfer}.
   */
  default ScriptCall acquire(String holder, long leaseMillis, boolean waits, int tokens) {
    return acquire(holder, leaseMillis, waits);
  }

  /**
   * Returns an attempt as one item of a script that acquires several locks of this kind, all or
   * none. Its reply for all of them: 1, their fencing token, and the last token before it; or 0,
   * the first busy lock, counted from 1, and its remaining lease in ms. Empty when this family has
   * no such script.
   */
  default Optional<ScriptCall> acquireTogether(String holder, long leaseMillis) {
    return Optional.empty();
  }

  /** Reads the reply to {@link #acquire}: integers are {@code Long}, arrays are {@code List}. */
  AcquireResult outcome(Object reply);

  /**
   * Returns a release. Its reply is an array: 1 and the number of subscribers that received the
   * message; 0 when this holder holds nothing; 2 when the hold was released by force.
   */
  ScriptCall release(String holder);

  /**
   * Returns a call that removes whatever an acquisition may have left in Redis, a place in a queue
   * or the hold itself, when the client does not know which.
   */
  default ScriptCall leave(String holder) {
    return release(holder);
  }

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
   * Returns the heartbeat of an acquisition that waits, as one item of a batch script. Its reply
   * for each item: 1 to go on waiting; any other number to attempt again now. Empty when the family
   * needs no heartbeat.
   */
  default Optional<Heartbeat> heartbeat(String holder) {
    return Optional.empty();
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

  /** The thread that begins an acquisition. */
  interface Caller {

    /**
     * Returns the holder id under which this thread owns the lock of that kind and of the
     * protocol's name; empty when it does not own it, or its lease was lost.
     */
    Optional<String> holderOf(String kind);
  }

  /**
   * A heartbeat of a waiter.
   *
   * @param item one item of a batch script
   * @param everyMillis the interval between two heartbeats
   */
  record Heartbeat(ScriptCall item, long everyMillis) {}
}
