package io.mortise.core.internal.handoff;

import static java.util.Objects.requireNonNull;

import io.mortise.connection.concurrent.Signal;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.RunProtocol;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition that waits in a queue in Redis, for the thread of its client that has a hold to
 * pass to it.
 *
 * <pre>
 *            offer                  thread takes the hold
 *   WAITING -------> Offer ---------------------------------> LEFT
 *     |   ^            |
 *     |   +- declined -+
 *     +--- thread leaves: another grant, a time-out, an interrupt, an error ---> LEFT
 * </pre>
 *
 * <p>The monitor decides between an offer and the leaving. An offer belongs to the acquisition from
 * then on, which uses the hold or has it released. It is no compare-and-set, because the giver must
 * give up the hold in the same step: between the two there must be no call, for which there might
 * be no stack.
 *
 * <p>{@link #awaits} is Dekker-style "publish, then look": the waiter names the signal for which it
 * is about to wait, and then looks for an offer. The giver makes the offer, and then fires the
 * signal that is named. If the giver does not see the signal, the waiter sees the offer.
 *
 * <p><b>Threads.</b> Any thread may call {@link #wants}, {@link #offer} and {@link #wake}. The
 * other methods are for the thread of the acquisition; it alone changes the state of one that has
 * an offer.
 */
final class RunWaiter {
  /** What an acquisition is to those that pass a hold on. */
  private sealed interface State permits Idle, Offer {}

  /**
   * A hold that is passed to this waiter. It exists before the hold ends for its giver: from then
   * on an error, such as a full heap, would leave a hold that nobody has.
   */
  static final class Offer implements State {
    private final RunProtocol protocol;

    /** Written before the offer is published. */
    private @Nullable TransferableHold hold;

    /**
     * @param protocol the protocol of the hold, by which it is released if it is not used
     */
    Offer(RunProtocol protocol) {
      this.protocol = protocol;
    }

    Offer of(TransferableHold passed) {
      hold = passed;
      return this;
    }

    RunProtocol protocol() {
      return protocol;
    }

    TransferableHold hold() {
      return requireNonNull(hold);
    }
  }

  /** A state without an offer. */
  private enum Idle implements State {
    WAITING,
    LEFT
  }

  private final long leaseMillis;

  /** A change from WAITING needs the monitor. */
  private volatile State state = Idle.WAITING;

  /** The signal for which the acquisition waits, or has waited last. */
  private volatile @Nullable Signal awaited;

  /**
   * Creates a waiter for a renewed hold.
   *
   * @param leaseMillis the lease of that hold
   */
  RunWaiter(long leaseMillis) {
    this.leaseMillis = leaseMillis;
  }

  /** Returns whether a hold with that lease is of use to the acquisition, and it has not left. */
  boolean wants(long millis) {
    return millis == leaseMillis && state == Idle.WAITING;
  }

  /**
   * Offers a hold; returns false if the acquisition has left: then the caller keeps the hold.
   *
   * @param beforeOffer runs last: after it the hold is offered, whatever happens
   */
  boolean offer(Offer offered, Runnable beforeOffer) {
    synchronized (this) {
      if (state != Idle.WAITING) {
        return false;
      }
      beforeOffer.run();
      state = offered; // no call between the two
    }
    wake();
    return true;
  }

  /** Wakes the acquisition, which then looks for an offer. */
  void wake() {
    Signal signal = awaited;
    if (signal != null) {
      signal.fire();
    }
  }

  /** Returns whether there is an offer; a later one fires that signal. */
  boolean awaits(Signal signal) {
    awaited = signal;
    return offered() != null;
  }

  /** Returns the offer; null when there is none. */
  @Nullable Offer offered() {
    return state instanceof Offer offer ? offer : null;
  }

  /** Waits for another offer, after the hold of this one was given up. */
  void decline() {
    state = Idle.WAITING;
  }

  /** Ends the wait, unless there is an offer; returns whether there is none. */
  synchronized boolean leave() {
    if (state == Idle.WAITING) {
      state = Idle.LEFT;
    }
    return state == Idle.LEFT;
  }

  /** Ends the wait after an offer, whose hold was taken or given up. */
  void end() {
    state = Idle.LEFT;
  }
}
