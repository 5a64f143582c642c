package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;
import java.util.Optional;

/**
 * What a lock family sends to Redis, and how it reads the answers. This and its scripts are all
 * that a family adds; waiting, renewing, owning and releasing are the engine's.
 *
 * <p>An implementation is immutable, and every call that it makes is safe to repeat, except {@link
 * #forceRelease}: a holder id stands for one acquisition and is never used again.
 */
public interface LockProtocol {

  /** The lock's name. */
  LockName name();

  /** The family in one word: two locks of one client are the same if kind and name are. */
  String kind();

  /**
   * Whether the threads of one client may wait in line inside the JVM, so that only the first of
   * them talks to Redis. False when Redis itself keeps the order, or when several may hold the
   * lock.
   */
  boolean usesLocalQueue();

  /**
   * The protocol of an acquisition that the calling thread begins. Called on that thread, before
   * anything is sent; for a family to which it matters what its caller holds already.
   */
  default LockProtocol boundTo(Caller caller) {
    return this;
  }

  /** Whether {@link #boundTo} and {@link #selfDeadlock} look at the caller. */
  default boolean dependsOnCaller() {
    return false;
  }

  /**
   * Why the calling thread would wait for itself, and what to do instead; empty when it would not.
   * A wait is then refused, and an attempt fails, with nothing sent.
   */
  default Optional<String> selfDeadlock(Caller caller) {
    return Optional.empty();
  }

  /** The field of the hash by which a holder holds. */
  default String hashField(String holder) {
    return holder;
  }

  /** The channel on which an acquisition that has to wait is woken. */
  String channel(String holder);

  /**
   * Whether every waiter has a channel of its own: it is left soon after the wait then, and those
   * of waiters to come may be subscribed ahead. The channel of an empty holder must not be that of
   * another lock.
   */
  default boolean hasChannelPerWaiter() {
    return false;
  }

  /**
   * An attempt.
   *
   * @param waits whether the caller waits if it cannot have the lock now: a family with a queue in
   *     Redis enters it only then
   */
  ScriptCall acquire(String holder, long leaseMillis, boolean waits);

  /**
   * Whether nothing but chance decides who comes next, so that the engine may: a hold then passes
   * from thread to thread of one client without a word to Redis, as {@link
   * io.mortise.core.LockOptions#maxHandOffs} says, and other clients go first afterwards.
   */
  default boolean allowsTransfer() {
    return false;
  }

  /**
   * Whether threads of one client may share one hold in Redis: for a family whose holds do not
   * exclude each other, and that keeps no order. Bounded as {@link #allowsTransfer}; who asks Redis
   * stands in line inside the JVM then, and those behind join what the first one gets.
   */
  default boolean allowsSharing() {
    return false;
  }

  /**
   * As {@link #acquire(String, long, boolean)}, with several tokens: the one in the answer and
   * those that follow it. Asked for more than one only if the hold {@link #allowsTransfer}.
   */
  default ScriptCall acquire(String holder, long leaseMillis, boolean waits, int tokens) {
    return acquire(holder, leaseMillis, waits);
  }

  /**
   * An attempt, as one item of a script that takes several locks of this kind, all or none. It
   * answers for all of them: 1, their fencing token, and the last one before; or 0, the first that
   * is busy, counted from 1, and what is left of its lease in ms. Empty when this family has no
   * such script.
   */
  default Optional<ScriptCall> acquireTogether(String holder, long leaseMillis) {
    return Optional.empty();
  }

  /** Reads the answer to {@link #acquire}: integers are {@code Long}, arrays are {@code List}. */
  AcquireResult outcome(Object reply);

  /**
   * A release. Its answer is an array: 1 and how many subscribers heard it; 0 when this holder
   * holds nothing; 2 when it was taken from it by force.
   */
  ScriptCall release(String holder);

  /**
   * Gives up all that an acquisition may have left in Redis, a place in a queue or the hold itself,
   * when nobody knows which.
   */
  default ScriptCall leave(String holder) {
    return release(holder);
  }

  /**
   * A renewal, as one item of a batch script: the hold lasts at least so long from now, and is
   * never shortened. Its answer for each item: 1 when renewed, 0 when this holder holds nothing, 2
   * when it was taken from it by force.
   */
  ScriptCall renew(String holder, long leaseMillis);

  /**
   * The longest time between two renewals of a hold, whatever its lease: for a family whose holds a
   * peer may shorten, which the next renewal mends.
   */
  default long maxRenewalIntervalMillis() {
    return Long.MAX_VALUE;
  }

  /**
   * What an acquisition sends regularly while it waits, as one item of a batch script, so that
   * others see that it is alive. Its answer for each item: 1 to wait on; any other number to ask
   * again now. Empty when nobody looks.
   */
  default Optional<Heartbeat> heartbeat(String holder) {
    return Optional.empty();
  }

  /**
   * Takes the lock from whoever holds it. Answer: 1 when somebody did, otherwise 0. Sent once: a
   * repetition could hit the next holder.
   */
  ScriptCall forceRelease();

  /**
   * Asks for the lock. Answer: what is left of the lease in ms; -1 when it is held without an end,
   * -2 when nobody holds it.
   */
  ScriptCall queryLease();

  /** The thread that begins an acquisition. */
  interface Caller {

    /**
     * The holder id under which this thread, as its owner, holds the lock of that kind and of the
     * protocol's name; empty when it does not, or its lease was lost.
     */
    Optional<String> holderOf(String kind);
  }

  /**
   * A sign of life.
   *
   * @param item one item of a batch script
   * @param everyMillis how often it is to be sent
   */
  record Heartbeat(ScriptCall item, long everyMillis) {}
}
