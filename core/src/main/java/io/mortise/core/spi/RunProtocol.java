package io.mortise.core.spi;

import java.util.List;

/**
 * A {@link QueueingProtocol} whose grant may cover a <em>run</em>: the waiters of the same client
 * that are directly behind the granted one in the queue in Redis. The client passes the hold from
 * one to the next of them without a command, in that order, and within the bounds of {@link
 * io.mortise.core.LockTuning#maxHandOffs}. Others join the queue at its tail, so the order over all
 * processes stays that of arrival.
 *
 * <p>The waiters of a run keep their places in Redis. The end of the hold removes the places of
 * those that it has served, so the next waiter in Redis is always the next one that was not served.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface RunProtocol extends QueueingProtocol {

  /** Returns whether this is the protocol of a hold that has served waiters of its run. */
  static boolean hasServed(LockProtocol protocol) {
    return protocol instanceof RunProtocol run && run.served() > 0;
  }

  /**
   * Returns the holder ids of the run, in the order of the queue. {@link #granted} returns the
   * protocol with the run, which has at most as many as the attempt named successors.
   */
  List<String> run();

  /** Returns how many waiters of the run the hold has served. */
  int served();

  /**
   * Returns the protocol of the hold after it was passed to the next waiter of the run: {@link
   * #release}, {@link #keep} and {@link #leave} also remove that waiter's place.
   */
  RunProtocol servingNext();
}
