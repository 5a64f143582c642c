package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LockException;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.Completions;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.StepTimeout;
import io.mortise.core.internal.lease.UnansweredAttempts;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire several locks of one client, all or none, in one round trip. It does not
 * wait, and passes waiters in the local queues only within the bounds of barging, see {@code
 * LocalQueue}.
 *
 * <p>All locks are acquired under one holder id, so that a repetition is safe. When the reply is
 * missing, or arrives after the lease, each lock is released in the background until the lease
 * would have expired.
 *
 * <p><b>Threads.</b> Confined to the thread that makes the attempt, and after an error in its
 * clean-up to a worker, see {@link Completions}.
 */
final class GroupAcquisition implements Completions.Operation {
  private static final int MAX_ATTEMPTS = 8;

  private final LeaseContext context;
  private final List<GroupProtocol> protocols;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final String holder;
  private final GroupTickets tickets;
  private final long startNanos;

  /** The attempts without a reply: what may leave holds behind. */
  private UnansweredAttempts unanswered = UnansweredAttempts.NONE;

  /** Whether the attempt under way has no outcome yet. */
  private boolean attempting;

  /** The holds that the caller gets, unless an error comes. */
  private List<RedisLease> granted = List.of();

  /** Whether the attempt counts as an operation that is under way. */
  private boolean counted;

  /**
   * Whether a lease was lost before it had a holder: it is released in the background, and that
   * could hit the grant of the next attempt under this holder id.
   */
  private boolean spent;

  /** Whether an error has kept the thread from completing it. */
  private volatile boolean broken;

  private GroupAcquisition(
      AcquireContext acquisitions,
      List<GroupProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = acquisitions.lease();
    this.tickets = new GroupTickets(context.ticker(), context.releases(), acquisitions.queues());
    this.protocols = protocols;
    this.terms = terms;
    this.owner = owner;
    this.holder = acquisitions.holderIds().next(owner);
    this.startNanos = context.nanos();
  }

  /** Makes the attempt. */
  static GroupAttemptResult make(
      AcquireContext acquisitions,
      List<GroupProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner)
      throws InterruptedException {
    return new GroupAcquisition(acquisitions, protocols, terms, owner).run();
  }

  private GroupAttemptResult run() throws InterruptedException {
    if (terms.interruptible() && Thread.interrupted()) {
      throw new InterruptedException("interrupted while waiting for " + names());
    }
    context.operations().begin();
    counted = true;
    boolean ended = false;
    try {
      context.completions().begin(this);
      context.ensureOpen(protocols.get(0).name());
      for (int i = 0; i < protocols.size(); i++) {
        if (!tickets.tryEnter(protocols.get(i), withinNanos())) {
          return new GroupAttemptResult.Busy(i);
        }
      }
      return attempt();
    } finally {
      try {
        end();
        context.completions().end(this);
        ended = true;
      } finally {
        broken = !ended; // no call: there may be no stack for one
      }
    }
  }

  /** Releases in the background the holds that may be left in Redis; gives the tickets back. */
  private void end() {
    if (attempting) { // an error in the middle, such as an OutOfMemoryError
      unanswered = unanswered.plusAttempt(context.leaseFromNow(terms));
      attempting = false;
    }
    abandon();
    tickets.release();
    if (counted) {
      context.operations().end();
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
    RedisHold.dropAll(granted);
    end();
  }

  private long withinNanos() {
    return StepTimeout.ofSingle(
        terms,
        terms.waitNanos() - (context.nanos() - startNanos),
        context.commands().timeoutNanos());
  }

  /**
   * Repeats the attempt, under the same holder id, while the epoch changes between request and
   * grant.
   */
  private GroupAttemptResult attempt() {
    List<ScriptCall> calls = new ArrayList<>(protocols.size());
    for (GroupProtocol protocol : protocols) {
      calls.add(protocol.acquireTogether(holder, terms.leaseMillis()));
    }
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
      AttemptStart start = AttemptStart.now(context.holds(), context.ticker());
      attempting = true;
      GroupAttemptResult result;
      try {
        result = attempt(calls, start);
      } catch (LockException e) { // nothing is held but what is counted as unanswered
        attempting = false;
        throw e;
      }
      attempting = false;
      if (result != null) {
        return result;
      }
      unanswered = unanswered.plusHold(context.leaseFromNow(terms)); // granted, with a reply
      if (spent) {
        break;
      }
    }
    return new GroupAttemptResult.Busy(0);
  }

  private @Nullable GroupAttemptResult attempt(List<ScriptCall> calls, AttemptStart start) {
    try {
      Reply reply =
          context
              .commands()
              .attempt(
                  ScriptRequest.merged(calls),
                  GroupAcquisition::isGrant,
                  this::releases,
                  withinNanos());
      if (reply.repeated()) {
        unanswered = unanswered.plusAttempts(reply.earlierAttempts(), context.leaseFromNow(terms));
      }
      List<?> answer = (List<?>) reply.value();
      if ((Long) answer.get(0) == 0) {
        return new GroupAttemptResult.Busy(Math.toIntExact((Long) answer.get(1)) - 1);
      }
      return toLeases(AcquireResult.Acquired.of(answer), start);
    } catch (CommandException fault) {
      if (fault.unansweredAttempts() > 0) {
        unanswered =
            unanswered.plusAttempts(fault.unansweredAttempts(), context.leaseFromNow(terms));
      } else if (fault.mayHaveExecuted()) { // refused in the middle of the script
        unanswered = unanswered.plusHold(context.leaseFromNow(terms));
      }
      throw LockExceptions.from(fault, names());
    } catch (ClassCastException | IndexOutOfBoundsException unreadable) {
      unanswered = unanswered.plusAttempt(context.leaseFromNow(terms));
      throw LockExceptions.from(AcquireContext.unreadable(unreadable), names());
    }
  }

  private static boolean isGrant(Object answer) {
    return (Long) ((List<?>) answer).get(0) == 1;
  }

  private List<ScriptCall> releases() {
    return protocols.stream().map(protocol -> protocol.release(holder)).toList();
  }

  /** Makes all leases before it registers them: nothing may fail after that. */
  private GroupAttemptResult.@Nullable Acquired toLeases(
      AcquireResult.Acquired acquired, AttemptStart start) throws CommandException {
    List<RedisLease> leases = new ArrayList<>(protocols.size());
    for (LockProtocol protocol : protocols) {
      leases.add(RedisLease.granted(context, protocol, holder, acquired, owner, terms, start));
    }
    if (context.nanos() - leases.get(0).deadlineNanos() >= 0) {
      throw AcquireContext.lateGrant(terms);
    }
    GroupAttemptResult.Acquired result = new GroupAttemptResult.Acquired(List.copyOf(leases));
    return register(leases, start.epoch()) ? result : null;
  }

  /**
   * Registers all leases, or none when the epoch has changed since the request was sent. On an
   * error, or when the client is closing, all are released in the background.
   */
  private boolean register(List<RedisLease> leases, long sentEpoch) {
    boolean registered = false;
    boolean failed = true;
    try {
      for (RedisLease lease : leases) {
        registered = context.holds().register(lease, sentEpoch);
        if (!registered) {
          break;
        }
      }
      UnansweredAttempts earlier = unanswered.afterGrant();
      if (registered) {
        leases.forEach(lease -> lease.termination().setUnanswered(earlier));
        tickets.transferTo(leases);
        unanswered = UnansweredAttempts.NONE; // the holds have the attempts before them now
        granted = leases;
      }
      failed = false;
    } finally {
      if (failed) {
        RedisHold.dropAll(leases);
      } else if (!registered) {
        leases.forEach(context.holds()::forget);
        leases.forEach(RedisLease::discard);
        spent = leases.stream().anyMatch(lease -> lease.loss().isPresent());
      }
    }
    return registered;
  }

  private void abandon() {
    if (unanswered.exists()) {
      for (LockProtocol protocol : protocols) {
        context.releases().releaseUntilConfirmed(protocol, holder, unanswered);
      }
      unanswered = UnansweredAttempts.NONE;
    }
  }

  private String names() {
    return String.join(
        "', '", protocols.stream().map(protocol -> protocol.name().value()).toList());
  }
}
