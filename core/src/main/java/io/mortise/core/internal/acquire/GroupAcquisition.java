package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.Completions;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.StepTimeout;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire several locks of one client, all or none, in one round trip. It does not
 * wait, and passes waiters in the local queues only within the bounds of barging, see {@code
 * LocalQueue}.
 *
 * <p>All locks are acquired under one holder id, so that a repetition is safe: see {@link
 * AttemptAccount}.
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
  private final AttemptAccount account;
  private final List<QueueTicket> tickets;
  private final long startNanos;

  /** The holds that the caller gets, unless an error comes. */
  private List<RedisLease> granted = List.of();

  /** Whether the attempt counts as an operation that is under way. */
  private boolean counted;

  /** Whether an error has kept the thread from completing it. */
  private volatile boolean broken;

  private GroupAcquisition(
      AcquireContext acquisitions,
      List<GroupProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = acquisitions.lease();
    this.protocols = protocols;
    this.terms = terms;
    this.owner = owner;
    this.holder = acquisitions.holderIds().next(owner);
    this.account = new AttemptAccount(context, protocols, terms, holder);
    this.tickets =
        protocols.stream()
            .map(
                protocol ->
                    new QueueTicket(
                        context.ticker(), context.releases(), acquisitions.queues(), protocol))
            .toList();
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
        if (!enterQueue(tickets.get(i))) {
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
    if (granted.isEmpty()) {
      account.release(false);
    }
    releaseTickets(0);
    if (counted) {
      context.operations().end();
      counted = false;
    }
  }

  /** Takes the permit of a lock, if it is free. A hold that comes with it is released. */
  private boolean enterQueue(QueueTicket ticket) {
    boolean entered = ticket.tryEnter();
    ticket.releaseOfferedHold(withinNanos());
    return entered;
  }

  /** Gives back all tickets that were not transferred, even if one of them fails. */
  private void releaseTickets(int first) {
    for (int i = first; i < tickets.size(); i++) {
      try {
        tickets.get(i).release();
      } catch (Throwable e) {
        releaseTickets(i + 1);
        throw e;
      }
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
    ScriptRequest request =
        ScriptRequest.merged(
            protocols.stream()
                .map(protocol -> protocol.acquireTogether(holder, terms.leaseMillis()))
                .toList());
    for (int i = 0; i < MAX_ATTEMPTS && !account.isSpent(); i++) {
      GroupAttemptResult result = attempt(request);
      if (result != null) {
        return result;
      }
    }
    return new GroupAttemptResult.Busy(0);
  }

  private @Nullable GroupAttemptResult attempt(ScriptRequest request) {
    try {
      Reply reply = account.send(request, GroupAcquisition::isGrant, withinNanos());
      List<?> answer = (List<?>) reply.value();
      if ((Long) answer.get(0) == 0) {
        int busy = Math.toIntExact((Long) answer.get(1)) - 1;
        account.refused();
        return new GroupAttemptResult.Busy(busy);
      }
      return toLeases(AcquireResult.Acquired.of(answer));
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, names());
    } catch (ClassCastException | IndexOutOfBoundsException unreadable) {
      throw LockExceptions.from(AcquireContext.unreadable(unreadable), names());
    }
  }

  private static boolean isGrant(Object answer) {
    return (Long) ((List<?>) answer).get(0) == 1;
  }

  /**
   * Returns null when the epoch has changed. Makes all leases and the result before it registers
   * them: nothing may fail after that.
   */
  private GroupAttemptResult.@Nullable Acquired toLeases(AcquireResult.Acquired acquired)
      throws CommandException {
    List<RedisLease> leases = new ArrayList<>(protocols.size());
    for (LockProtocol protocol : protocols) {
      leases.add(
          RedisLease.granted(context, protocol, holder, acquired, owner, terms, account.start()));
    }
    if (account.discardIfLate(leases.get(0))) {
      throw AcquireContext.lateGrant(terms);
    }
    GroupAttemptResult.Acquired result = new GroupAttemptResult.Acquired(List.copyOf(leases));
    if (!account.register(leases)) {
      return null;
    }
    try {
      for (int i = 0; i < leases.size(); i++) {
        tickets.get(i).transferTo(leases.get(i));
      }
      granted = leases;
      return result;
    } catch (Throwable e) {
      RedisHold.dropAll(leases);
      throw e;
    }
  }

  private String names() {
    return String.join(
        "', '", protocols.stream().map(protocol -> protocol.name().value()).toList());
  }
}
