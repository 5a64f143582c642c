package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LockException;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.UnansweredAttempts;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to take several locks of one client, all or none, in one round trip. It overtakes
 * nobody who waits in a line of this client, and does not wait itself.
 *
 * <p>Confined to the thread that makes it. All locks are taken by one holder id, which is safe to
 * repeat as ever; when the answer is missing, or comes after the lease, each of them is released in
 * the background until the lease would have run out.
 */
public final class GroupAcquisition {
  private static final long LEAST_NANOS = 200_000_000L;
  private static final int MOST_ATTEMPTS = 8;

  private final AcquireContext context;
  private final List<LockProtocol> protocols;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final String holder;
  private final List<QueueTicket> places = new ArrayList<>();
  private final long startNanos;

  private GroupAcquisition(
      AcquireContext context,
      List<LockProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner) {
    this.context = context;
    this.protocols = protocols;
    this.terms = terms;
    this.owner = owner;
    this.holder = context.holderIds().get();
    this.startNanos = context.nanos();
  }

  /** Makes the attempt. */
  public static GroupAttemptResult make(
      AcquireContext context,
      List<LockProtocol> protocols,
      LeaseTerms terms,
      @Nullable Thread owner)
      throws InterruptedException {
    return new GroupAcquisition(context, protocols, terms, owner).run();
  }

  private GroupAttemptResult run() throws InterruptedException {
    if (terms.interruptible() && Thread.interrupted()) {
      throw new InterruptedException("interrupted while waiting for " + names());
    }
    context.lease().operations().begin();
    try {
      context.lease().ensureOpen(protocols.get(0).name());
      for (int i = 0; i < protocols.size(); i++) {
        if (!standInLine(protocols.get(i))) {
          return new GroupAttemptResult.Busy(i);
        }
      }
      return attempt();
    } finally {
      try {
        leaveFrom(0);
      } finally {
        context.lease().operations().end();
      }
    }
  }

  /** All of them, whatever goes wrong with one. */
  private void leaveFrom(int place) {
    if (place < places.size()) {
      try {
        places.get(place).release();
      } finally {
        leaveFrom(place + 1);
      }
    }
  }

  private boolean standInLine(LockProtocol protocol) {
    QueueTicket place = new QueueTicket(context.lease(), context.gates(), protocol);
    places.add(place);
    boolean first = place.tryEnter();
    place.releaseOfferedHold(withinNanos());
    return first;
  }

  private long withinNanos() {
    return terms.waitNanos() == 0
        ? context.lease().commands().timeoutNanos()
        : Math.max(LEAST_NANOS, terms.waitNanos() - (context.nanos() - startNanos));
  }

  /** Repeated, by the same holder id, when something has happened since that may end the holds. */
  private GroupAttemptResult attempt() {
    List<ScriptCall> calls = new ArrayList<>(protocols.size());
    for (LockProtocol protocol : protocols) {
      calls.add(protocol.acquireTogether(holder, terms.leaseMillis()).orElseThrow());
    }
    UnansweredAttempts doubt = UnansweredAttempts.NONE;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
      AttemptStart sending = AttemptStart.now(context.lease());
      boolean settled = false;
      try {
        GroupAttemptResult result = attempt(calls, sending, doubt);
        settled = true;
        if (result != null) {
          return result;
        }
      } catch (LockException e) { // nothing is held
        settled = true;
        throw e;
      } finally {
        if (!settled) { // an error in the middle, as for want of memory
          abandon(doubt.another(leaseFromNow()));
        }
      }
      doubt = doubt.held(leaseFromNow()); // granted, and answered
    }
    abandon(doubt);
    return new GroupAttemptResult.Busy(0);
  }

  private @Nullable GroupAttemptResult attempt(
      List<ScriptCall> calls, AttemptStart sending, UnansweredAttempts before) {
    UnansweredAttempts doubt = before;
    try {
      Reply reply =
          context
              .lease()
              .commands()
              .attempt(
                  ScriptRequest.merged(calls),
                  GroupAcquisition::isGrant,
                  this::releases,
                  withinNanos());
      if (reply.repeated()) {
        doubt = doubt.another(leaseFromNow());
      }
      List<?> answer = (List<?>) reply.value();
      if ((Long) answer.get(0) == 0) {
        if (doubt.exists()) {
          abandon(doubt);
        }
        return new GroupAttemptResult.Busy(Math.toIntExact((Long) answer.get(1)) - 1);
      }
      List<OwnedLease> leases = hold(AcquireResult.Acquired.of(answer), sending, doubt.granted());
      return leases == null ? null : new GroupAttemptResult.Acquired(leases);
    } catch (CommandException fault) {
      if (fault.mayHaveExecuted()) {
        doubt = fault.isServerReply() ? doubt.held(leaseFromNow()) : doubt.another(leaseFromNow());
      }
      if (doubt.exists()) {
        abandon(doubt);
      }
      throw LockExceptions.from(fault, names());
    }
  }

  private static boolean isGrant(Object answer) {
    return (Long) ((List<?>) answer).get(0) == 1;
  }

  private List<ScriptCall> releases() {
    return protocols.stream().map(protocol -> protocol.release(holder)).toList();
  }

  private @Nullable List<OwnedLease> hold(
      AcquireResult.Acquired acquired, AttemptStart sending, UnansweredAttempts doubt)
      throws CommandException {
    List<RedisLease> leases = new ArrayList<>(protocols.size());
    for (LockProtocol protocol : protocols) {
      leases.add(
          new RedisLease(context.lease(), protocol, holder, acquired, owner, terms, sending));
    }
    if (context.nanos() - leases.get(0).renewal().deadlineNanos() >= 0) {
      throw new CommandException(
          Kind.UNREACHABLE,
          true,
          "the answer took longer than the lease of " + terms.leaseMillis() + " ms",
          new TimeoutException());
    }
    return register(leases, doubt, sending.epoch()) ? List.copyOf(leases) : null;
  }

  /**
   * Registers all, or none when something has happened since the request was sent. On an error, or
   * when the client is being closed, all are released in the background.
   */
  private boolean register(List<RedisLease> leases, UnansweredAttempts doubt, long sentEpoch) {
    boolean registered = false;
    boolean failed = true;
    try {
      for (RedisLease lease : leases) {
        registered = context.lease().holds().register(lease, sentEpoch);
        if (!registered) {
          break;
        }
      }
      for (int i = 0; registered && i < leases.size(); i++) {
        leases.get(i).end().setUnanswered(doubt);
        places.get(i).transferTo(leases.get(i));
      }
      failed = false;
    } finally {
      if (failed) {
        leases.forEach(lease -> lease.end().drop());
      } else if (!registered) {
        leases.forEach(context.lease().holds()::forget);
        leases.forEach(lease -> lease.end().discard());
      }
    }
    return registered;
  }

  private void abandon(UnansweredAttempts doubt) {
    for (LockProtocol protocol : protocols) {
      context.lease().releases().releaseUntilConfirmed(protocol, holder, doubt);
    }
  }

  private long leaseFromNow() {
    return context.nanos() + terms.leaseMillis() * 1_000_000;
  }

  private String names() {
    return String.join(
        "', '", protocols.stream().map(protocol -> protocol.name().value()).toList());
  }
}
