package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.FaultSeries;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;

/**
 * The turn of one acquisition to make attempts: it begins in the local queue of the lock, pauses
 * after a fault, and goes to the acquisitions behind when an outage lasts.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires; the closing of the client ends a pause.
 */
final class LocalTurn {
  private final ClosingState closing;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final LocalHandOff handOff;
  private final QueueTicket ticket;
  private final AcquireWait waiting;
  private final FaultTimeout faultTimeout;

  LocalTurn(
      ClosingState closing,
      LockProtocol protocol,
      LeaseTerms terms,
      LocalHandOff handOff,
      QueueTicket ticket,
      AcquireWait waiting,
      FaultTimeout faultTimeout) {
    this.closing = closing;
    this.protocol = protocol;
    this.terms = terms;
    this.handOff = handOff;
    this.ticket = ticket;
    this.waiting = waiting;
    this.faultTimeout = faultTimeout;
  }

  // ---- in the local queue

  /**
   * Waits for the permit, if the lock has a local queue.
   *
   * @return whether to make an attempt; false when the wait has ended, and the lock is known to be
   *     held
   */
  boolean enterQueue() throws InterruptedException {
    if (!handOff.usesLocalQueue()) {
      return true;
    }
    return mayAttempt(ticket.enter(terms.waitNanos(), terms.interruptible(), handOff::accepts));
  }

  /**
   * Judges the end of a wait in the queue.
   *
   * @param entered whether this acquisition has the permit
   */
  private boolean mayAttempt(boolean entered) {
    ensureOpen();
    FaultSeries faults = ticket.faults();
    if (entered) {
      faultTimeout.adopt(faults, waiting.startNanos());
      return true;
    }
    if (terms.waitNanos() == 0) {
      // One attempt past the queue, as tryLock() does everywhere; none when the answer is known.
      return !ticket.isHeldHere();
    }
    if (faults != null) {
      throw LockExceptions.from(faults.fault(), protocol.name());
    }
    // False only when a holder was seen; otherwise one attempt past the queue finds out.
    return !ticket.wasHeldSince(waiting.startNanos());
  }

  // ---- after a fault

  /**
   * Pauses, if the last attempt met a fault; throws when going on is of no use.
   *
   * @return as {@link #enterQueue}
   */
  boolean pauseAfterFault() throws InterruptedException {
    CommandException fault = faultTimeout.lastFault();
    if (fault == null) {
      return true;
    }
    if (!fault.kind().isTransient() || waiting.leftNanos() <= 0) {
      throw LockExceptions.from(fault, protocol.name());
    }
    faultTimeout.throwIfExpired();
    Signal closed = closing.signal();
    long seen = closed.generation();
    ensureOpen();
    waiting.await(closed, seen, faultTimeout.pauseNanos());
    if (waiting.leftNanos() <= 0) {
      throw LockExceptions.from(fault, protocol.name());
    }
    return !mustMakeRoom()
        || mayAttempt(ticket.moveToTail(waiting.leftNanos(), terms.interruptible()));
  }

  /**
   * Returns whether others try now: a bounded wait moves to the tail of the local queue once the
   * outage timeout is over. A waiter behind this one may give up earlier (an unbounded wait ends
   * with {@code LockOptions.outageTimeout}), but learns of the outage only when it is first. An
   * unbounded wait stays, and ends with its next fault.
   */
  private boolean mustMakeRoom() {
    return !terms.isUnbounded() && faultTimeout.isExpired() && ticket.hasSuccessors();
  }

  private void ensureOpen() {
    if (closing.isClosed()) {
      throw LockExceptions.clientClosed(protocol.name());
    }
  }
}
