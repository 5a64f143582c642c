package io.mortise.core.internal.acquire;

import io.mortise.core.internal.handoff.FaultSeries;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one acquisition in the local queue of its lock, and what the end of that wait means.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires.
 */
final class LocalQueueWait {
  private final LeaseContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final LocalHandOff handOff;
  private final QueueTicket ticket;
  private final AcquireWait waiting;
  private final FaultTimeout faultTimeout;

  LocalQueueWait(
      LeaseContext context,
      LockProtocol protocol,
      LeaseTerms terms,
      LocalHandOff handOff,
      QueueTicket ticket,
      AcquireWait waiting,
      FaultTimeout faultTimeout) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.handOff = handOff;
    this.ticket = ticket;
    this.waiting = waiting;
    this.faultTimeout = faultTimeout;
  }

  /**
   * Waits for the permit, if the lock has a local queue.
   *
   * @return whether to make an attempt; false when the wait has ended, and the lock is known to be
   *     held
   */
  boolean enter() throws InterruptedException {
    if (!handOff.usesLocalQueue()) {
      return true;
    }
    return mayAttempt(ticket.enter(terms.waitNanos(), terms.interruptible(), handOff::accepts));
  }

  /** Returns whether this acquisition keeps others from the permit. */
  boolean hasSuccessors() {
    return ticket.hasSuccessors();
  }

  /**
   * Gives the permit to the acquisitions behind, and waits for it again.
   *
   * @return as {@link #enter}
   */
  boolean moveToTail() throws InterruptedException {
    return mayAttempt(ticket.moveToTail(waiting.leftNanos(), terms.interruptible()));
  }

  /**
   * Judges the end of the wait.
   *
   * @param entered whether this acquisition has the permit
   */
  private boolean mayAttempt(boolean entered) {
    context.ensureOpen(protocol.name());
    FaultSeries faults = ticket.faults();
    if (entered) {
      adopt(faults);
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

  /** Adopts what the previous owner of the permit has met. */
  private void adopt(@Nullable FaultSeries faults) {
    if (faults == null) {
      faultTimeout.record(null);
    } else {
      faultTimeout.adopt(faults, waiting.startNanos());
      if (faults.isFresh(context.nanos())) {
        faultTimeout.throwIfExpired();
      }
    }
  }
}
