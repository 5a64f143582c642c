package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;

/**
 * The pause of one acquisition between an attempt that met a fault and the next attempt.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires; the closing of the client ends a pause.
 */
final class FaultPause {
  private final ClosingState closing;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final AcquireWait waiting;
  private final LocalQueueWait queueWait;
  private final FaultTimeout faultTimeout;

  FaultPause(
      ClosingState closing,
      LockProtocol protocol,
      LeaseTerms terms,
      AcquireWait waiting,
      LocalQueueWait queueWait,
      FaultTimeout faultTimeout) {
    this.closing = closing;
    this.protocol = protocol;
    this.terms = terms;
    this.waiting = waiting;
    this.queueWait = queueWait;
    this.faultTimeout = faultTimeout;
  }

  /**
   * Pauses, if the last attempt met a fault; throws when going on is of no use.
   *
   * @return false when the wait has ended in the local queue, and the lock is known to be held
   */
  boolean await() throws InterruptedException {
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
    if (closing.isClosed()) {
      throw LockExceptions.clientClosed(protocol.name());
    }
    waiting.await(closed, seen, faultTimeout.pauseNanos());
    if (waiting.leftNanos() <= 0) {
      throw LockExceptions.from(fault, protocol.name());
    }
    return !mustMakeRoom() || queueWait.moveToTail();
  }

  /**
   * Returns whether others try now: a bounded wait moves to the tail of the local queue once the
   * outage timeout is over. A waiter behind this one may give up earlier (an unbounded wait ends
   * with {@code LockOptions.outageTimeout}), but learns of the outage only when it is first. An
   * unbounded wait stays, and ends with its next fault.
   */
  private boolean mustMakeRoom() {
    return !terms.isUnbounded() && faultTimeout.isExpired() && queueWait.hasSuccessors();
  }
}
