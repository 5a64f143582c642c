package io.mortise.core;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One hold of a lock: from the acquisition until it is released or lost.
 *
 * <p>A lease belongs to whoever has this object. All methods may be called by any thread.
 *
 * <p><b>Validity</b> is judged here, without asking Redis: from {@link System#nanoTime()}
 * <em>before</em> the request that granted or renewed the hold, plus the lease, less a margin for
 * the drift of the clocks. So this side stops believing before Redis lets the next one in. A lease
 * that could not be renewed in time is lost at the latest at that moment, also when Redis cannot be
 * reached.
 *
 * <p><b>A lease that is dropped</b> without {@link #close()} cannot be released by anybody. When
 * the garbage collector finds one that is renewed, a warning names the lock ({@link
 * LockOptions#traceLeases} adds where it was acquired), and the renewal ends: the lock is free when
 * the lease has run out. A listener that refers to the lease itself prevents that.
 *
 * <p>A loss is told, once: the {@link #state()} is {@link State#LOST}, listeners run, a warning is
 * logged, and {@link #close()} or {@code unlock()} throws {@link LeaseLostException}.
 */
public interface Lease extends AutoCloseable {

  /** Where a hold stands. */
  enum State {
    /** Held, and the renewal, if there is one, is on time. */
    HELD,
    /** Held, but a renewal failed or is late; if none succeeds the lease will be lost. */
    AT_RISK,
    /** Lost before it was released; {@link Lease#loss()} says why. Final. */
    LOST,
    /** Released by its holder. Final. */
    RELEASED
  }

  /** The name of the lock. */
  String lockName();

  /**
   * A number that is larger than that of every earlier holder of this lock. Send it with each write
   * to the protected resource, and let the resource refuse a write whose number is smaller than the
   * largest that it has seen: then a holder that lost its lease without noticing can do no harm.
   *
   * <p>It is larger also when Redis has lost the last one, as long as the server's clock does not
   * stand behind by more than the time since then. It is below 2<sup>53</sup>.
   */
  long fencingToken();

  /** The state at this moment. */
  State state();

  /** Whether the state is {@link State#HELD} or {@link State#AT_RISK}. */
  default boolean isValid() {
    State state = state();
    return state == State.HELD || state == State.AT_RISK;
  }

  /**
   * For how long from now this hold is sure, if nothing renews it. Zero when it is lost or
   * released.
   */
  Duration remaining();

  /** When and why the lease was lost; empty if it was not. */
  Optional<LeaseLoss> loss();

  /**
   * Runs the listener once if the lease is lost, on a thread of the client's; at once, on the
   * calling thread, if it is lost already; never, if it is released first. What it throws is
   * logged.
   */
  void onLost(Consumer<LeaseLoss> listener);

  /**
   * Tells the listener each change of state from now on, in order, on a thread of the client's; the
   * same thread that runs the {@link #onLost} listeners. What it throws is logged. To stop the
   * protected work on a loss use {@link #onLost}, which cannot miss one.
   */
  void onStateChange(Consumer<State> listener);

  /**
   * Throws if this hold is not valid any more: to be called between the steps of long work.
   *
   * @throws LeaseLostException if the lease was lost
   * @throws IllegalMonitorStateException if it was released
   */
  void ensureValid();

  /**
   * Releases the hold. A second call does nothing.
   *
   * @throws LeaseLostException if the lease was lost before; thrown once, so that a
   *     try-with-resources does not pass over it
   * @throws LockException if Redis could not confirm the release; it is repeated in the background,
   *     and the message says when the lease has run out. With {@link LockException.Reason#IN_DOUBT}
   *     nothing is left to release, but the hold may have been lost before
   */
  @Override
  void close();
}
