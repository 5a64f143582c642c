package io.mortise.core.internal.acquire;

import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.Completions;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition: the only loop that waits for a lock, whatever its family.
 *
 * <pre>
 *   local queue -> attempt -> acquired
 *                    |  ^
 *                    |  +-------------------------------------------+
 *                    |                                              |
 *                    +-- busy, no channel yet: subscribe, confirmed-+
 *                    +-- busy: park until a message, the holder's TTL, the deadline, an interrupt
 *                    +-- transient fault: pause, growing, with jitter
 * </pre>
 *
 * <p><b>What can go wrong where.</b> <i>Interrupt</i>: the loop checks for it before the queue, in
 * the queue, before each attempt, and while parked; never during a command, so that every attempt
 * has an outcome or a fault. <i>A lost reply</i>: see {@link AttemptAccount}. <i>A lost
 * message</i>: the signal's generation is read before the attempt, and a channel counts only from
 * its confirmation. In every case the {@code finally} gives back the slot in the local queue, the
 * channel, the heartbeat, and the place in a Redis queue. <i>A spent holder id</i>, of which a
 * release may be under way: the wait goes on under a new one.
 *
 * <p><b>Threads.</b> Confined to the thread that waits, and after an error in its clean-up to a
 * worker, see {@link Completions}. Other threads reach it only through the signal of its channel
 * and the permit of its local queue.
 */
final class Acquisition implements Completions.Operation {
  /** How often a grant is requested again past the end of the wait. */
  private static final int MAX_REPEATED_GRANTS = 8;

  private final AcquireContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final QueueTicket ticket;
  private final LocalHandOff handOff;
  private final FaultTimeout faultTimeout;
  private final AcquireWait waiting;
  private final LocalTurn turn;

  /** Null while the acquisition waits in the local queue. */
  private @Nullable AcquireAttempts attempts;

  /** The hold that the caller gets, unless an error comes. */
  private @Nullable RedisHold granted;

  /** Whether the acquisition counts as an operation that is under way. */
  private boolean counted;

  /** Whether an error has kept the thread from completing the acquisition. */
  private volatile boolean broken;

  /** How often a grant was requested again, because the epoch had changed since it was sent. */
  private int repeatedGrants;

  private Acquisition(
      AcquireContext context,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.owner = owner;
    LeaseContext leases = context.lease();
    Duration limit = leases.options().outageTimeout();
    this.faultTimeout =
        new FaultTimeout(leases.ticker(), limit, leases::random, protocol.name(), terms);
    this.ticket = new QueueTicket(leases.ticker(), leases.releases(), context.queues(), protocol);
    this.handOff =
        new LocalHandOff(
            leases,
            context.sharedHolds(),
            context.runWaiters(),
            source,
            protocol,
            terms,
            owner,
            ticket);
    this.waiting = new AcquireWait(context, protocol, terms, handOff);
    this.turn =
        new LocalTurn(leases.closing(), protocol, terms, handOff, ticket, waiting, faultTimeout);
  }

  /**
   * Waits for the lock.
   *
   * @param owner the thread that will own the hold, or null for a handle
   * @return the hold, registered and renewed; null when another holder had the lock all the time
   */
  static @Nullable RedisHold acquire(
      AcquireContext context,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner)
      throws InterruptedException {
    return new Acquisition(context, source, protocol, terms, owner).run();
  }

  private @Nullable RedisHold run() throws InterruptedException {
    context.lease().operations().begin();
    counted = true;
    boolean ended = false;
    try {
      context.lease().completions().begin(this);
      waiting.checkInterrupt();
      granted = handOff.takeOffered(terms.waitNanos());
      if (granted == null && turn.enterQueue()) {
        granted = attemptUntilDone();
      }
      return granted;
    } catch (InterruptedException e) { // that of the local queue names no lock
      throw CallerWait.interruption(protocol.name().value());
    } finally {
      try {
        end(true);
        waiting.restoreInterrupt(); // before: a thread may refuse it, and has no hold then
        context.lease().completions().end(this);
        ended = true;
      } finally {
        try {
          waiting.restoreInterrupt();
        } finally {
          broken = !ended; // last, and no call: there may be no stack for one
        }
      }
    }
  }

  // ---- attempts

  /** Begins attempts under a new holder id. */
  private AcquireAttempts beginAttempts() {
    String holder = waiting.begin(owner);
    handOff.runs().join(holder);
    AcquireAttempts begun =
        new AcquireAttempts(
            context.lease(), protocol, terms, ticket, handOff, faultTimeout, holder);
    attempts = begun;
    return begun;
  }

  private @Nullable RedisHold attemptUntilDone() throws InterruptedException {
    AcquireAttempts current = beginAttempts();
    while (true) {
      boolean wasOffered = ticket.offeredHold() != null;
      boolean yielded = !wasOffered && waiting.yieldToOtherClients();
      // Before the attempt, and before the check whether the client is closed: a message, or the
      // closing, after this moment is not missed.
      AcquireWait.SignalSnapshot seen = waiting.snapshot();
      context.lease().ensureOpen(protocol.name());
      waiting.checkInterrupt();
      RedisHold offered = handOff.takeOffered(current.withinNanos(waiting.leftNanos()));
      if (offered != null) {
        return current.replaceBy(offered, waiting.leftNanos());
      }
      if (wasOffered) { // it was released
        yielded = waiting.yieldToOtherClients();
      }

      AcquireResult result = current.send(waiting.leftNanos());
      if (yielded) {
        context.fairness().onAttempt(protocol, result instanceof AcquireResult.Acquired);
      }
      if (result instanceof AcquireResult.Acquired acquired) {
        RedisHold lease = current.toLease(acquired);
        if (lease != null) {
          return lease;
        }
        if (faultTimeout.lastFault() == null
            && ++repeatedGrants >= MAX_REPEATED_GRANTS
            && waiting.leftNanos() <= 0) {
          return null; // the grant is given up
        }
      } else if (result instanceof AcquireResult.Unavailable
          || (result != null && waiting.leftNanos() <= 0)) {
        return null;
      } else if (result != null) {
        faultTimeout.resetPause();
        waiting.park(seen, result);
        continue;
      }
      if (!turn.pauseAfterFault()) {
        return null;
      }
      current = unspent(current);
    }
  }

  /**
   * Returns the attempts to go on with. If the holder id is spent, gives up its attempts and begins
   * others, with another place in a Redis queue.
   */
  private AcquireAttempts unspent(AcquireAttempts current) {
    if (!current.isSpent()) {
      return current;
    }
    waiting.close();
    handOff.runs().leave();
    current.abandon(waiting.leftNanos());
    return beginAttempts();
  }

  // ---- at the end

  /**
   * Gives back what the wait has used; without a hold, abandons the attempts too.
   *
   * @param delivered whether the caller gets the hold that was granted
   */
  private void end(boolean delivered) {
    RedisHold lease = granted;
    waiting.close();
    if (lease == null) {
      giveUp();
    } else if (!delivered) {
      lease.drop();
    }
    if (counted) {
      context.lease().operations().end();
      counted = false;
    }
  }

  private void giveUp() {
    handOff.runs().leave();
    AcquireAttempts made = attempts;
    if (made != null) {
      made.abandon(waiting.leftNanos());
      attempts = null;
    }
    ticket.release();
  }

  // ---- after an error, on a worker

  @Override
  public boolean isBroken() {
    return broken;
  }

  /** The caller has got an error: whatever was granted is given up. */
  @Override
  public void complete() {
    end(false);
  }
}
