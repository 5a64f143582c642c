package io.mortise.core;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One hold of a lock: from the acquisition until it is released or lost.
 *
 * <p>A lease belongs to no thread: any code that has this object may use it.
 *
 * <p><b>Validity</b> is judged by the client, without asking Redis: from {@link System#nanoTime()}
 * <em>before</em> the request that granted or renewed the hold, plus the lease, less a margin for
 * clock drift. So the client considers the hold lost before Redis grants the lock to the next
 * holder. A lease that could not be renewed in time is lost at that moment at the latest, also when
 * Redis cannot be reached.
 *
 * <p><b>A lease that is dropped</b> without {@link #close()} cannot be released any more. When the
 * garbage collector finds one that is renewed, a warning names the lock ({@link
 * LockOptions#traceLeases} adds where it was acquired), and the renewal ends: the lock is free when
 * the lease has run out. A listener that refers to the lease itself prevents that.
 *
 * <p><b>A loss</b> is reported once: the {@link #state()} is {@link State#LOST}, listeners run, a
 * warning is logged, and {@link #close()} or {@code unlock()} throws {@link LeaseLostException}. A
 * loss that only the release of a hold finds, which was to go to another thread of the process that
 * did not take it, is thrown, and {@link #loss()} has it; the state stays {@link State#RELEASED},
 * and nothing else reports it. A hold that consists of several is lost as ever.
 *
 * <p><b>Threads.</b> Any thread may call any method. Listeners run in the order of the changes.
 *
 * <p>Not to be implemented by users, except to decorate another lease: later versions may have more
 * methods.
 */
public interface Lease extends AutoCloseable {

  /** The state of a hold. Later versions may have more states. */
  enum State {
    /**
     * Held, and the renewal, if there is one, is on time. Also while a release is under way; if its
     * reply is late, {@link Lease#isValid()} tells when the time of the hold is over.
     */
    HELD,
    /** Held, but a renewal failed or is late; if none succeeds the lease will be lost. */
    AT_RISK,
    /** Lost before it was released; {@link Lease#loss()} says why. Final. */
    LOST,
    /** Released by its holder. Final. */
    RELEASED
  }

  /** Returns the name of the lock. */
  String lockName();

  /**
   * Returns a number that is larger than that of every earlier holder of this lock. Send it with
   * each write to the protected resource, and let the resource refuse a write whose number is
   * smaller than the largest that it has seen: then a holder that lost its lease without noticing
   * can do no harm.
   *
   * <p>It is larger even when Redis has lost the last one, as long as the server's clock is not
   * behind by more than the time since then. It is below 2<sup>53</sup>.
   */
  long fencingToken();

  /** Returns the state at this moment. */
  State state();

  /**
   * Returns whether the state is {@link State#HELD} or {@link State#AT_RISK}. False also when a
   * release is under way and the time of the hold is over: another client may have the lock.
   */
  default boolean isValid() {
    State state = state();
    return state == State.HELD || state == State.AT_RISK;
  }

  /**
   * Returns for how long from now this hold is certain to be valid, if it is not renewed. Zero when
   * it is lost or released.
   */
  Duration remaining();

  /** Returns when and why the lease was lost; empty if it was not. */
  Optional<LeaseLoss> loss();

  /**
   * Runs the listener once if the lease is lost, on a thread of the client, or after its close on
   * the thread that notices the loss; immediately, on the calling thread, if it is lost already;
   * never, if it is released first. An exception of the listener is logged.
   */
  void onLost(Consumer<LeaseLoss> listener);

  /**
   * Notifies the listener of each change of state from now on, in order, on a thread of the client;
   * the same thread that runs the {@link #onLost} listeners. An exception of the listener is
   * logged. To stop the protected work on a loss use {@link #onLost}, which cannot miss one.
   */
  void onStateChange(Consumer<State> listener);

  /**
   * Throws if this hold is not valid any more. To be called between the steps of long work.
   *
   * @throws LeaseLostException if the lease was lost
   * @throws IllegalMonitorStateException if it was released
   */
  void ensureValid();

  /**
   * Releases the hold. A second call does nothing. Before the end of a {@linkplain
   * DistributedLock#atLeast minimum} the lock stays busy in Redis, which is no loss.
   *
   * @throws LeaseLostException if the lease was lost before; thrown once, so that a
   *     try-with-resources does not hide it
   * @throws LockException if Redis could not confirm the release; it is repeated in the background,
   *     and the message says when the lease has run out. With {@link LockException.Reason#IN_DOUBT}
   *     nothing is left to release, but the hold may have been lost before
   * @throws IllegalMonitorStateException if it is the hold of a thread ({@link
   *     DistributedLock#lease()}), which {@code unlock()} releases
   */
  @Override
  void close();

  /**
   * As {@link #close()}, without blocking the calling thread: the release is sent by a thread of
   * the client. The stage completes when Redis has confirmed it, and fails with what {@code
   * close()} would throw. It is released even if nobody looks at the stage. A second call, or a
   * {@code close()}, while the first is under way does nothing and returns at once. If no thread
   * can be started, the calling thread sends the release. Dependent stages without their own
   * executor run on a thread of the client: they must not block it for long.
   */
  CompletionStage<@Nullable Void> releaseAsync();
}
