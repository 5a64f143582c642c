package io.mortise.core.internal.lease;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time of one hold: its deadline, its renewal, and its verification, which asks Redis whether
 * the hold is still there, also for a hold that is not renewed.
 *
 * <p><b>The epoch</b> of a hold is the client's epoch from before the request that granted or last
 * confirmed the hold. If the client's epoch is another, something may have happened to the hold
 * since then.
 *
 * <p><b>Threads.</b> The scheduler sends the requests ({@link #onDue}), a worker delivers the
 * replies, and the owner may extend the hold at the same time ({@link #extendTo}). The {@link
 * LeaseDeadline} only grows: each reply counts from the moment before <em>its</em> request and for
 * the lease that <em>this</em> request named, and the later of two ends stands; the scripts never
 * shorten a lease either. What a request may set is noted before it is sent, so a lost reply leaves
 * nothing behind that is not released. At most one batched request is under way ({@code inFlight}).
 * A reply after the end of the hold changes nothing here.
 */
public final class LeaseRenewal implements Scheduler.ScheduledTask, BatchCollector.Item {
  /**
   * The time that everything after the end of a wait may take together: the last attempt, and
   * leaving a queue. The round trip of a slow network.
   */
  public static final long ROUND_TRIP_NANOS = 200_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewal.class);
  private static final long OWNER_CHECK_NANOS = 30_000_000_000L;
  private static final long RETRY_NANOS = 20_000_000L;
  private static final long MIN_TIMEOUT_NANOS = 100_000_000L;

  /** The threads that share a hold which does not belong to one thread. */
  public interface Owners {
    /** Returns whether all of them have died without unlocking. */
    boolean areDead();
  }

  private final LeaseContext context;
  private final RedisLease lease;
  private final LockProtocol protocol;
  private final String holder;
  private final @Nullable Thread owner;
  private final long acquiredNanos;
  private final LeaseDeadline deadline;
  private volatile @Nullable Owners sharers;

  /** The lease that a renewal asks for. */
  private volatile long leaseMillis;

  /** Whether the hold is renewed until it is released. */
  private volatile boolean renewed;

  /** When the next renewal or verification is due. */
  private volatile long nextRequestNanos;

  private volatile boolean inFlight;

  /** Whether to verify the hold at once after the reply to the request under way. */
  private volatile boolean verificationRequested;

  /** Whether the last renewal had no reply. */
  private volatile boolean failing;

  private volatile long inFlightMillis;
  private volatile long inFlightEpoch;

  /** The client's epoch from before the request that granted the hold or last confirmed it. */
  private volatile long epoch;

  /**
   * The moment before the last confirmed request: Redis has had the hold at least once since then.
   */
  private volatile long confirmedNanos;

  /** Why the renewal has stopped although the terms ask for it; empty while it goes on. */
  private volatile String stoppedBecause = "";

  LeaseRenewal(
      LeaseContext context,
      RedisLease lease,
      LockProtocol protocol,
      String holder,
      @Nullable Thread owner,
      LeaseTerms terms,
      AttemptStart sent) {
    this.context = context;
    this.lease = lease;
    this.protocol = protocol;
    this.holder = holder;
    this.owner = owner;
    this.acquiredNanos = sent.nanos();
    this.confirmedNanos = sent.nanos();
    this.epoch = sent.epoch();
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.deadline = new LeaseDeadline(deadlineAfter(sent.nanos(), leaseMillis));
    this.nextRequestNanos = nextRequestAfter(sent.nanos());
  }

  /** Continues a hold that another thread of this client has handed off. */
  LeaseRenewal(
      LeaseContext context,
      RedisLease lease,
      LockProtocol protocol,
      @Nullable Thread owner,
      LeaseTerms terms,
      TransferableHold hold) {
    this.context = context;
    this.lease = lease;
    this.protocol = protocol;
    this.holder = hold.holder();
    this.owner = owner;
    this.acquiredNanos = context.nanos();
    this.confirmedNanos = acquiredNanos;
    this.epoch = hold.epoch();
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.deadline = new LeaseDeadline(hold.deadlineNanos());
    var unused = deadline.note(hold.leaseMillis()); // it may have been renewed before
    this.nextRequestNanos = hold.nextRequestNanos();
  }

  /** Marks the hold as shared by several threads. */
  public void setSharers(Owners threads) {
    sharers = threads;
  }

  /**
   * Returns whether the hold has no open questions: it is renewed, no request is pending or has
   * failed, the epoch is the same, and more than a third of its lease is left.
   */
  boolean isSettled() {
    return renewed
        && !inFlight
        && !verificationRequested
        && !failing
        && stoppedBecause.isEmpty()
        && !deadline.isOver()
        && deadline.notedMillis() <= leaseMillis
        && deadline.nanos() - context.nanos() > leaseNanos() / 3
        && epoch == context.holds().epoch();
  }

  /** Returns the hold in the form in which it is handed off. */
  TransferableHold toTransferableHold(long token, TransferableHold.TokenReserve reserve) {
    return new TransferableHold(
        holder, deadlineNanos(), nextRequestNanos, leaseMillis, token, reserve, epoch);
  }

  private long deadlineAfter(long sentNanos, long millis) {
    long nanos = millis * 1_000_000;
    return sentNanos + nanos - context.drift().nanos(nanos);
  }

  private long leaseNanos() {
    return leaseMillis * 1_000_000;
  }

  /**
   * Returns the renewal interval; a hold that is not renewed is verified as often as one with the
   * client's own lease is renewed.
   */
  private long intervalNanos() {
    long third = (renewed ? leaseNanos() : context.options().lease().toNanos()) / 3;
    return Math.min(third, MILLISECONDS.toNanos(protocol.maxRenewalIntervalMillis()));
  }

  private long nextRequestAfter(long sentNanos) {
    return sentNanos + (long) (intervalNanos() * (0.9 + context.random() / 10));
  }

  RedisLease lease() {
    return lease;
  }

  /** Returns the time until which the hold is certain, and its arbiter. */
  LeaseDeadline deadline() {
    return deadline;
  }

  /** Returns the time until which the hold is certain. */
  public long deadlineNanos() {
    return deadline.nanos();
  }

  /** Returns the rest of the lease in whole milliseconds, for a request that only verifies. */
  private long remainingMillis() {
    return Math.max(1, (deadline.nanos() - context.nanos()) / 1_000_000);
  }

  /** Returns the moment before the request with which Redis last confirmed the hold. */
  public long confirmedNanos() {
    return confirmedNanos;
  }

  /**
   * Returns the time after which Redis itself will have ended the hold, also if a renewal is just
   * taking effect.
   */
  long endInRedisNanos() {
    long known = deadline.nanos() + context.drift().nanos(leaseNanos());
    long possible = context.nanos() + deadline.notedMillis() * 1_000_000;
    return deadline.mayOutlive() && possible - known > 0 ? possible : known;
  }

  boolean isRenewed() {
    return renewed;
  }

  /** Sets whether any of the remaining levels of re-entry asks for renewal. */
  void setRenewed(boolean wanted) {
    renewed = wanted;
  }

  /** Returns the detail for a hold that has expired. */
  String whyExpired() {
    if (!stoppedBecause.isEmpty()) {
      return "it was not renewed any more, because " + stoppedBecause;
    }
    return renewed
        ? ("no renewal succeeded in the last %d ms; if Redis was reachable, this process was"
                + " suspended")
            .formatted(leaseMillis)
        : "its lease of %d ms ran out; give a longer one, or none to have it renewed"
            .formatted(leaseMillis);
  }

  // ---- called by the scheduler

  @Override
  public long dueNanos() {
    if (lease.phase() == Phase.LOST) {
      return nextRequestNanos;
    }
    long deadline = deadlineNanos();
    return mayRequest() && nextRequestNanos - deadline < 0 ? nextRequestNanos : deadline;
  }

  /** Lets a request join the current batch in the last fifth of its interval. */
  @Override
  public long mayRunAtNanos() {
    if (!mayRequest()) {
      return dueNanos();
    }
    return switch (lease.phase()) {
      case HELD -> nextRequestNanos - intervalNanos() / 5;
      case AT_RISK -> nextRequestNanos - leaseNanos() / 40; // half the shortest pause after a fault
      default -> dueNanos();
    };
  }

  private boolean mayRequest() {
    return !inFlight && stoppedBecause.isEmpty();
  }

  @Override
  public void onDue(long nowNanos) {
    Phase phase = lease.phaseNow();
    if (phase == Phase.LOST) {
      // Its thread has still to unlock, unless that thread is dead.
      nextRequestNanos = nowNanos + OWNER_CHECK_NANOS;
      if (owner == null || !owner.isAlive()) {
        context.holds().forget(lease);
      }
    } else if ((phase == Phase.HELD || phase == Phase.AT_RISK) && mayRequest()) {
      if (owner != null && !owner.isAlive()) {
        stop("its thread '" + owner.getName() + "' ended without unlocking");
      } else if (sharers != null && sharers.areDead()) {
        stop("all threads that shared it ended without unlocking");
      } else if (nowNanos - acquiredNanos >= context.options().maxHold().toNanos()) {
        stop("it was held for longer than LockOptions.maxHold");
      } else {
        sendRequest(nowNanos);
      }
    }
  }

  private void sendRequest(long nowNanos) {
    inFlightEpoch = context.holds().epoch();
    boolean lengthens = renewed;
    inFlightMillis = lengthens ? leaseMillis : remainingMillis();
    if (lengthens ? !deadline.note(inFlightMillis) : deadline.isOver()) {
      return;
    }
    verificationRequested = false;
    inFlight = true;
    boolean added = false;
    try {
      context.batches().add(this);
      added = true;
    } finally {
      if (!added) { // an error, such as one for want of memory
        nextRequestNanos = nowNanos + RETRY_NANOS;
        inFlight = false;
      }
    }
  }

  /** Stops the renewal: the hold ends with its lease, and is lost then. */
  void stop(String why) {
    stoppedBecause = why;
    lease.atRisk();
    context
        .tasks()
        .run(
            () ->
                LOG.warn("lock '{}': the hold is not renewed any more: {}", protocol.name(), why));
  }

  /**
   * Makes the next request due at once if a verification was requested. Called after the next time
   * was set, so that a verification requested at the same moment is not overwritten.
   */
  private void requestNowIfVerificationRequested() {
    if (verificationRequested) {
      nextRequestNanos = context.nanos();
    }
  }

  /** Requests a verification soon; if a request is under way, after its reply. */
  public void requestVerification() {
    verificationRequested = true;
    nextRequestNanos = context.nanos();
    context.scheduler().wakeBy(nextRequestNanos);
  }

  /** Verifies the hold and waits for the reply; without one, requests a verification soon. */
  public void verifyQuietly() {
    try {
      verifyNow();
    } catch (CommandException fault) {
      LOG.debug("lock '{}': the verification failed and is repeated soon", protocol.name(), fault);
      requestVerification();
    }
  }

  /**
   * Verifies the hold and waits for the reply.
   *
   * @throws CommandException if there was no reply
   */
  void verifyNow() throws CommandException {
    if (!deadline.isOver()) {
      exchange(remainingMillis(), context.commands().timeoutNanos());
    }
  }

  private void exchange(long millis, long withinNanos) throws CommandException {
    long epochBefore = context.holds().epoch();
    long sentNanos = context.nanos();
    ScriptPipeline.Result answer =
        context
            .commands()
            .pipeline()
            .runBatch(List.of(protocol.renew(holder, millis)), withinNanos)
            .get(0);
    if (answer.fault() != null) {
      throw answer.fault();
    }
    if (!(answer.reply().value() instanceof Long status) || status < 0) {
      throw new CommandException(
          CommandException.Kind.NOT_READY,
          false,
          "the server did not say whether the hold is there",
          null);
    }
    onReply(status, sentNanos, millis, epochBefore);
  }

  /**
   * Schedules the check whether the owner lives, after the loss of a hold that it has still to
   * unlock.
   */
  void scheduleOwnerCheck() {
    nextRequestNanos = context.nanos() + OWNER_CHECK_NANOS;
  }

  // ---- called by a worker

  @Override
  public ScriptCall call() {
    return protocol.renew(holder, inFlightMillis);
  }

  @Override
  public long withinNanos() {
    return Math.max(MIN_TIMEOUT_NANOS, leaseNanos() / 3);
  }

  @Override
  public void onReply(long answer, long sentNanos) {
    long millis = inFlightMillis;
    long epochBefore = inFlightEpoch;
    nextRequestNanos = nextRequestAfter(sentNanos);
    inFlight = false;
    requestNowIfVerificationRequested();
    onReply(answer, sentNanos, millis, epochBefore);
    context.scheduler().wakeBy(dueNanos());
  }

  private void onReply(long answer, long sentNanos, long millis, long epochBefore) {
    if (answer == 1) {
      if (deadline.lengthen(deadlineAfter(sentNanos, millis))) {
        confirmedNanos = sentNanos;
        failing = false;
        epoch = epochBefore;
        lease.confirmed();
      }
    } else if (answer == 2) {
      lease.termination().lose(Reason.FORCED, context.nanos(), LeaseTermination.BY_FORCE);
    } else if (!lease.expireIfDue()) { // a hold that has just expired is no loss of data
      lease
          .termination()
          .lose(
              Reason.MISSING,
              context.nanos(),
              "Redis does not know this hold any more; it lost its data, or the key was deleted");
    }
  }

  @Override
  public void onFailure(CommandException fault) {
    nextRequestNanos =
        context.nanos() + (long) (leaseNanos() / 10.0 * (0.5 + context.random() / 2));
    failing = true;
    inFlight = false;
    requestNowIfVerificationRequested();
    if (lease.atRisk()) {
      context
          .tasks()
          .run( // off this thread, which may be the scheduler's
              () ->
                  LOG.warn("lock '{}': a renewal failed: {}", protocol.name(), fault.getMessage()));
    }
    context.scheduler().wakeBy(dueNanos());
  }

  // ---- called by the owner

  /** Returns whether the hold lasts for at least the lease of these terms without a command. */
  boolean covers(LeaseTerms terms) {
    // A renewed hold stays renewed while its outer level lasts, and that outlasts this one.
    long neededUntil = context.nanos() + terms.leaseMillis() * 1_000_000;
    return (renewed && terms.leaseMillis() <= leaseMillis) || deadlineNanos() - neededUntil >= 0;
  }

  /**
   * Extends the hold for a re-entry, which needs at least its own lease from now. Sends one command
   * if that is longer than the rest of the lease, otherwise none. The command may take the wait of
   * the terms, at least a round trip; without a wait, the command timeout.
   */
  void extendTo(LeaseTerms terms) throws CommandException {
    if (!covers(terms) && deadline.note(terms.leaseMillis())) {
      exchange(terms.leaseMillis(), withinNanos(terms));
    }
    if (terms.renewed()) {
      leaseMillis = Math.max(leaseMillis, terms.leaseMillis());
      renewed = true;
    }
    long next = nextRequestAfter(context.nanos());
    if (next - nextRequestNanos < 0) {
      nextRequestNanos = next;
    }
    requestNowIfVerificationRequested();
    context.scheduler().wakeBy(dueNanos());
  }

  private long withinNanos(LeaseTerms terms) {
    return terms.waitNanos() == 0
        ? context.commands().timeoutNanos()
        : Math.max(terms.waitNanos(), ROUND_TRIP_NANOS);
  }

  @Override
  public String toString() {
    return "renewal of " + lease;
  }
}
