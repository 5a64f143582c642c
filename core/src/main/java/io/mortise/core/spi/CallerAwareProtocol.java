package io.mortise.core.spi;

import java.util.Optional;

/**
 * A {@link LockProtocol} that depends on what else the calling thread holds on the same server.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}. The engine calls it on the thread that begins an
 * acquisition, before anything is sent.
 */
public interface CallerAwareProtocol extends LockProtocol {

  /** Returns the protocol of an acquisition that the calling thread begins. */
  default LockProtocol boundTo(Caller caller) {
    return this;
  }

  /**
   * Returns why the calling thread would wait for itself, and what to do instead; empty when it
   * would not. If present, a wait is refused, and an attempt fails, with nothing sent.
   */
  default Optional<String> selfDeadlock(Caller caller) {
    return Optional.empty();
  }

  /**
   * The thread that begins an acquisition.
   *
   * <p>A hold that it names is <em>pinned</em>: Redis may grant the acquisition because that holder
   * id has the lock, so no other thread may get the lock under that id. The hold is released in
   * Redis, and never handed off.
   */
  interface Caller {

    /**
     * Returns the hold by which this thread owns the lock of that kind and of the protocol's name;
     * empty when it does not own it, its release has begun, or its lease was lost.
     */
    Optional<CallerHold> holdOf(String kind);
  }

  /**
   * A hold of the calling thread.
   *
   * @param holder its holder id
   * @param fencingToken its fencing token
   * @param lastReservedToken the last of the later tokens that Redis has reserved for hand-offs of
   *     this hold, which nobody gets now that it is pinned; -1 when there is none
   */
  record CallerHold(String holder, long fencingToken, long lastReservedToken) {}
}
