package io.mortise.core.internal.handoff;

import io.mortise.connection.concurrent.Signal;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.RunProtocol;
import org.jspecify.annotations.Nullable;

/**
 * The part of one acquisition in the runs of a queue in Redis: it takes the hold that the waiter
 * before it passes on, and passes its own to the next. For a lock without runs it does nothing.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires. {@link RunWaiter} orders the threads
 * that pass a hold on and take it.
 */
public final class RunHandOff {
  /** The largest number of waiters in a run: the release of its hold names each of them. */
  static final int MAX_RUN = 32;

  private final LeaseContext context;
  private final RunWaiters runWaiters;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;

  /** The holder id under which this acquisition is in {@link #runWaiters}. */
  private String waiterId = "";

  /** This acquisition, for those that pass a hold to it; null unless it can use one of a run. */
  private @Nullable RunWaiter waiter;

  RunHandOff(
      LeaseContext context,
      RunWaiters runWaiters,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = context;
    this.runWaiters = runWaiters;
    this.protocol = protocol;
    this.terms = terms;
    this.owner = owner;
  }

  /**
   * Lets other threads pass a hold to this acquisition, if its terms allow that. Must be called
   * before the first attempt.
   */
  public void join(String holder) {
    if (protocol instanceof RunProtocol && terms.renewed() && terms.waitNanos() > 0) {
      waiterId = holder;
      waiter = new RunWaiter(terms.leaseMillis());
      runWaiters.add(holder, waiter);
    }
  }

  /** Returns whether there is an offer; a later one fires that signal. */
  public boolean awaitsOffer(Signal signal) {
    return waiter != null && waiter.awaits(signal);
  }

  /** Returns whether there is an offer. */
  public boolean isOffered() {
    return waiter != null && waiter.offered() != null;
  }

  /**
   * Takes the hold that is passed to this acquisition; null when there is none that matches. One
   * that does not match is released: this acquisition has its place in Redis.
   */
  @Nullable RedisHold takeOffered() {
    RunWaiter taker = waiter;
    if (taker == null) {
      return null;
    }
    RunWaiter.Offer offer = taker.offered();
    if (offer == null) {
      return null;
    }
    TransferableHold hold = offer.hold();
    if (hold.isUsable(terms, context.nanos(), context.holds().epoch())) {
      RunProtocol serving = offer.protocol().servingNext();
      RedisLease lease = RedisLease.handedOff(context, serving, hold, owner, terms);
      if (context.holds().register(lease, hold.epoch())) {
        return take(lease, serving, taker);
      }
    }
    context.releases().releaseInBackground(offer.protocol(), hold);
    taker.decline();
    return null;
  }

  private RedisHold take(RedisLease lease, RunProtocol serving, RunWaiter taker) {
    try {
      passOn(lease, serving);
      taker.end();
      leave();
      return lease;
    } catch (Throwable e) {
      lease.drop();
      throw e;
    }
  }

  /** Lets a hold, at its end, go to the next waiter of its run. */
  void passOn(RedisLease lease, RunProtocol run) {
    lease.termination().setSlot(new RunSlot(runWaiters, run, terms.leaseMillis()));
  }

  /**
   * Ends the wait for the hold of a run. One that was offered, and is not used, is released in the
   * background. May be called again after an error.
   */
  public void leave() {
    RunWaiter leaver = waiter;
    if (leaver != null) {
      if (!leaver.leave()) {
        RunWaiter.Offer unused = leaver.offered();
        if (unused != null) {
          context.releases().releaseInBackground(unused.protocol(), unused.hold());
        }
        leaver.end();
      }
      runWaiters.remove(waiterId);
      waiter = null;
    }
  }
}
