package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.LocalQueue;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.handoff.SharedLease;
import io.mortise.core.internal.lease.Completion;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition: the only loop in which anybody waits for a lock, of whatever family.
 *
 * <pre>
 *   line in the JVM -> attempt -> acquired
 *                        |  ^
 *                        |  +-------------------------------------------+
 *                        |                                              |
 *                        +-- busy, no channel yet: subscribe, confirmed-+
 *                        +-- busy: park until a message, the holder's TTL, the deadline, an interrupt
 *                        +-- fault that may pass: pause, growing, with jitter
 * </pre>
 *
 * <p><b>Threads.</b> An acquisition is confined to the thread that waits. Others reach it only
 * through the signal of its channel and the permit of its gate.
 *
 * <p><b>What can go wrong where.</b> <i>Interrupt</i>: it is looked at before the line, in the
 * line, before each attempt, and while parked; never during a command, so that every attempt has an
 * outcome or a fault. <i>A lost reply</i>: see {@link AcquireAttempts}. <i>A lost message</i>: the
 * signal's generation is read before the attempt, and a channel counts only from its confirmation.
 * Whatever ends the loop, the {@code finally} gives back the line, the channel, the sign of life,
 * and the place in Redis.
 */
public final class Acquisition implements Completion.Work {
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 500_000_000L;

  /** How often a grant is asked for again past the end of the wait. */
  private static final int MOST_ASKED_AGAIN = 8;

  private final AcquireContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final QueueTicket place;
  private final LocalHandOff neighbours;
  private final FaultTimeout patience;
  private final AcquireWait waiting;

  /** Null while it stands in the line. */
  private @Nullable AcquireAttempts attempts;

  /** What the caller gets, unless an error comes. */
  private @Nullable OwnedLease granted;

  /** Whether it counts as an operation that is under way. */
  private boolean counted;

  /** Whether an error has kept the thread from completing it. */
  private volatile boolean broken;

  /** How often a grant was asked for again, because something had happened since it was sent. */
  private int askedAgain;

  /** After faults; null before the first. */
  private @Nullable Backoff backoff;

  private Acquisition(
      AcquireContext context,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.patience = new FaultTimeout(context.lease().ticker(), context.options().outageTimeout());
    this.place = new QueueTicket(context.lease(), context.gates(), protocol);
    this.neighbours =
        new LocalHandOff(context.lease(), context.shares(), source, protocol, terms, owner, place);
    this.waiting = new AcquireWait(context, protocol, terms);
  }

  /**
   * Waits for the lock.
   *
   * @param owner the thread whose hold it will be, or null for a handle
   * @return the hold, registered and renewed; null when somebody else held the lock all the time
   */
  public static @Nullable OwnedLease acquire(
      AcquireContext context,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner)
      throws InterruptedException {
    return new Acquisition(context, source, protocol, terms, owner).run();
  }

  private @Nullable OwnedLease run() throws InterruptedException {
    context.lease().operations().begin();
    counted = true;
    Completion completion = null;
    boolean ended = false;
    try {
      completion = Completion.begin(context.lease(), this);
      waiting.checkInterrupt();
      granted = neighbours.takeOffered(terms.waitNanos());
      if (granted == null && standInLine()) {
        attempts =
            new AcquireAttempts(
                context, protocol, terms, place, neighbours, patience, waiting.begin());
        granted = attemptUntilDone(attempts);
      }
      return granted;
    } finally {
      try {
        giveBack();
        if (completion != null) {
          completion.end();
        }
        ended = true;
      } finally {
        broken = !ended; // no call: there may be no stack for one
      }
      waiting.restoreInterrupt();
    }
  }

  // ---- the line in the JVM

  /**
   * False when the wait ended in the line, or a thread of this client is known to hold the lock.
   */
  private boolean standInLine() throws InterruptedException {
    if (!neighbours.standInLine()) {
      return true;
    }
    boolean first = place.enter(terms.waitNanos(), terms.interruptible(), neighbours::accepts);
    context.lease().ensureOpen(protocol.name());
    LocalQueue.Outage trouble = place.trouble();
    if (first) {
      if (trouble != null) {
        patience.adopt(trouble, waiting.startNanos());
        if (trouble.isFresh(context.nanos())) {
          throwIfPatienceIsOver();
        }
      }
      return true;
    }
    if (terms.waitNanos() == 0) {
      // One attempt past the line, as tryLock() does everywhere; none when the answer is known.
      return !place.isHeldHere();
    }
    if (trouble != null) {
      throw LockExceptions.from(trouble.fault(), protocol.name());
    }
    // False only when somebody was seen to hold it; otherwise one attempt past the line tells.
    return !place.isTakenSince(waiting.startNanos());
  }

  // ---- attempts

  private @Nullable OwnedLease attemptUntilDone(AcquireAttempts attempts)
      throws InterruptedException {
    while (true) {
      boolean polite = place.offeredHold() == null && waiting.yieldToOtherClients();
      // Before the attempt, and before the look whether the client is closed: a message, or the
      // closing, after this moment is not missed.
      AcquireWait.Heard heard = waiting.snapshot();
      context.lease().ensureOpen(protocol.name());
      waiting.checkInterrupt();
      OwnedLease left = neighbours.takeOffered(attempts.withinNanos(waiting.leftNanos()));
      if (left != null) {
        return instead(left, attempts);
      }

      AcquireResult attempt = attempts.send(waiting.leftNanos());
      if (polite) {
        context.courtesy().onAttempt(protocol, attempt instanceof AcquireResult.Acquired);
      }
      if (attempt instanceof AcquireResult.Acquired acquired) {
        OwnedLease lease = attempts.toLease(acquired);
        if (lease != null) {
          return lease;
        }
        if (patience.lastFault() == null
            && ++askedAgain >= MOST_ASKED_AGAIN
            && waiting.leftNanos() <= 0) {
          return null; // what was granted is given up
        }
        pauseAfterFault();
      } else if (attempt == null) {
        pauseAfterFault();
      } else if (waiting.leftNanos() <= 0) {
        return null;
      } else {
        backoff = null;
        waiting.park(heard, retryMillis(attempt));
      }
    }
  }

  /** With what others have left, what this one has asked for itself is not needed. */
  private OwnedLease instead(OwnedLease left, AcquireAttempts attempts) {
    boolean given = false;
    try {
      attempts.abandon(waiting.leftNanos());
      given = true;
      return left;
    } finally {
      if (!given) {
        drop(left);
      }
    }
  }

  private static long retryMillis(AcquireResult attempt) {
    return attempt instanceof AcquireResult.Queued turn
        ? turn.retryMillis()
        : ((AcquireResult.Busy) attempt).remainingMillis();
  }

  // ---- waiting

  /** Throws when there is no use in going on; otherwise waits a while. */
  private void pauseAfterFault() throws InterruptedException {
    CommandException fault = patience.lastFault();
    if (fault == null) {
      return;
    }
    if (!fault.kind().isTransient() || waiting.leftNanos() <= 0) {
      throw LockExceptions.from(fault, protocol.name());
    }
    throwIfPatienceIsOver();
    Signal closing = context.lease().closing().signal();
    long seen = closing.generation();
    context.lease().ensureOpen(protocol.name());
    waiting.await(closing, seen, pauseNanos());
    letOthersGiveUp();
    if (waiting.leftNanos() <= 0) {
      throw LockExceptions.from(fault, protocol.name());
    }
  }

  private long pauseNanos() {
    Backoff pause = backoff;
    if (pause == null) {
      pause = new Backoff(FIRST_PAUSE_NANOS, MOST_PAUSE_NANOS, context.lease()::random);
      backoff = pause;
    }
    return pause.nextNanos();
  }

  /**
   * Who stands behind this one in the line may have less patience, and finds out only when it is
   * first: so it gets its turn, and this one goes to the end of the line.
   */
  private void letOthersGiveUp() throws InterruptedException {
    if (patience.isExpired()) {
      long left = terms.isUnbounded() ? LeaseTerms.FOREVER : waiting.leftNanos();
      place.moveToTail(left, terms.interruptible());
    }
  }

  private void throwIfPatienceIsOver() {
    CommandException fault = patience.lastFault();
    if (fault != null && terms.isUnbounded() && patience.isExpired()) {
      throw LockExceptions.from(
          fault,
          protocol.name(),
          "waited for Redis as long as LockOptions.outageTimeout, %s, allows"
              .formatted(context.options().outageTimeout()));
    }
  }

  // ---- at the end

  private void giveBack() {
    OwnedLease lease = granted;
    waiting.close();
    if (lease == null) {
      giveUp();
    }
    countOut();
  }

  private void giveUp() {
    AcquireAttempts made = attempts;
    if (made != null) {
      made.abandon(waiting.leftNanos());
      attempts = null;
    }
    place.release();
  }

  private void countOut() {
    if (counted) {
      context.lease().operations().end();
      counted = false;
    }
  }

  // ---- after an error, on a worker

  @Override
  public boolean isBroken() {
    return broken;
  }

  /** The caller has got an error: whatever was granted is given up. */
  @Override
  public void complete() {
    OwnedLease lease = granted;
    waiting.close();
    if (lease != null) {
      drop(lease);
    } else {
      giveUp();
    }
    countOut();
  }

  private static void drop(OwnedLease lease) {
    if (lease instanceof SharedLease part) {
      part.drop();
    } else if (lease instanceof RedisLease hold) {
      hold.end().drop();
    }
  }
}
