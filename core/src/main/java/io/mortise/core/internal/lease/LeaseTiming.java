package io.mortise.core.internal.lease;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;

/**
 * The times of one hold: until when it is certain, the lease that a renewal asks for, and when the
 * next request is due. Sends nothing.
 *
 * <p><b>The epoch</b> of a hold is the client's epoch from before the request that granted or last
 * confirmed the hold. If the client's epoch is another, something may have happened to the hold
 * since then.
 *
 * <p><b>Threads.</b> Any thread may call any method. The {@link LeaseDeadline} only grows: each
 * reply counts from the moment before <em>its</em> request and for the lease that <em>this</em>
 * request named, and the later of two ends counts; the scripts never shorten a lease either. Each
 * of the other fields is volatile and is read for itself; {@link LeaseRenewal} and {@link
 * LeaseExtension} say in which order they are written.
 */
final class LeaseTiming {
  private final LeaseContext context;
  private final LockProtocol protocol;
  private final long sinceNanos;
  private final LeaseDeadline deadline;

  private final MinimumEnd minimum = new MinimumEnd();

  /** The lease that a renewal asks for. */
  private volatile long leaseMillis;

  /** Whether the hold is renewed until it is released. */
  private volatile boolean renewed;

  /** When the next renewal or verification is due. */
  private volatile long nextRequestNanos;

  /**
   * When a request is under way: the time of the next one if it is answered soon. So a renewal
   * moves the hold once in the scheduler, when it is sent, and not again when it is answered. Only
   * the scheduler sets it.
   */
  private volatile long plannedNanos;

  /** The client's epoch from before the request that granted the hold or last confirmed it. */
  private volatile long epoch;

  /** The moment before the last confirmed request: Redis has had the hold since then. */
  private volatile long confirmedNanos;

  /** Why the renewal has stopped although the terms ask for it; empty while it goes on. */
  private volatile String stoppedBecause = "";

  private LeaseTiming(
      LeaseContext context,
      LockProtocol protocol,
      LeaseTerms terms,
      long sinceNanos,
      long epoch,
      LeaseDeadline deadline) {
    this.context = context;
    this.protocol = protocol;
    this.sinceNanos = sinceNanos;
    this.confirmedNanos = sinceNanos;
    this.epoch = epoch;
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.deadline = deadline;
  }

  static LeaseTiming granted(
      LeaseContext context, LockProtocol protocol, LeaseTerms terms, AttemptStart sent) {
    LeaseDeadline deadline =
        new LeaseDeadline(deadlineAfter(context.drift(), sent.nanos(), terms.leaseMillis()));
    LeaseTiming timing =
        new LeaseTiming(context, protocol, terms, sent.nanos(), sent.epoch(), deadline);
    timing.setNextRequest(timing.nextRequestAfter(sent.nanos()));
    return timing;
  }

  /** Returns the times of a hold that another thread of this client has handed off. */
  static LeaseTiming handedOff(
      LeaseContext context, LockProtocol protocol, LeaseTerms terms, TransferableHold hold) {
    LeaseDeadline deadline = new LeaseDeadline(hold.deadlineNanos());
    var unused = deadline.note(hold.leaseMillis()); // it may have been renewed before
    LeaseTiming timing =
        new LeaseTiming(context, protocol, terms, context.nanos(), hold.epoch(), deadline);
    timing.setNextRequest(hold.nextRequestNanos());
    return timing;
  }

  // ---- the deadline

  private static long deadlineAfter(ClockDrift drift, long sentNanos, long millis) {
    long nanos = millis * 1_000_000;
    return sentNanos + nanos - drift.nanos(nanos);
  }

  /** Returns the arbiter of the time until which the hold is certain. */
  LeaseDeadline deadline() {
    return deadline;
  }

  /** Returns until when the lock stays busy, although the hold is released earlier. */
  MinimumEnd minimum() {
    return minimum;
  }

  /** Returns the moment before the request that granted the hold, or of its hand-off. */
  long sinceNanos() {
    return sinceNanos;
  }

  /** Returns the time until which the hold is certain. */
  long deadlineNanos() {
    return deadline.nanos();
  }

  /** Returns the rest of the lease in whole milliseconds, for a request that only verifies. */
  long remainingMillis() {
    return Math.max(1, (deadline.nanos() - context.nanos()) / 1_000_000);
  }

  /** Returns when Redis itself will have ended the hold, also if a renewal is taking effect now. */
  long endInRedisNanos() {
    long known = deadline.nanos() + context.drift().nanos(leaseNanos());
    long possible = context.nanos() + deadline.notedMillis() * 1_000_000;
    return deadline.mayOutlive() && possible - known > 0 ? possible : known;
  }

  /**
   * Records that Redis has confirmed the hold; returns false if the hold has ended meanwhile.
   *
   * @param sentNanos the moment before the request
   * @param millis the lease that the request named
   * @param epochBefore the client's epoch from before the request
   */
  boolean confirm(long sentNanos, long millis, long epochBefore) {
    if (!deadline.lengthen(deadlineAfter(context.drift(), sentNanos, millis))) {
      return false;
    }
    confirmedNanos = sentNanos;
    epoch = epochBefore;
    return true;
  }

  long confirmedNanos() {
    return confirmedNanos;
  }

  /**
   * Returns whether nothing is open about the hold: its renewal has not stopped, the epoch is the
   * same, and more than a third of its lease is left.
   */
  boolean isCertain() {
    return stoppedBecause.isEmpty()
        && !deadline.isOver()
        && deadline.notedMillis() <= leaseMillis
        && deadline.nanos() - context.nanos() > leaseNanos() / 3
        && epoch == context.holds().epoch();
  }

  // ---- the lease and its renewal

  long leaseMillis() {
    return leaseMillis;
  }

  long leaseNanos() {
    return leaseMillis * 1_000_000;
  }

  boolean isRenewed() {
    return renewed;
  }

  /** Sets whether any of the remaining levels of re-entry asks for renewal. */
  void setRenewed(boolean wanted) {
    renewed = wanted;
  }

  /** Adopts the terms of a re-entry, if they ask for renewal. */
  void adopt(LeaseTerms terms) {
    if (terms.renewed()) {
      leaseMillis = Math.max(leaseMillis, terms.leaseMillis());
      renewed = true;
    }
  }

  /**
   * Returns whether the hold lasts for at least the lease of these terms without a command. The
   * renewal counts for renewed terms only: it may have stopped, or its level may be exited first.
   */
  boolean covers(LeaseTerms terms) {
    long neededUntil = context.nanos() + terms.leaseMillis() * 1_000_000;
    return (terms.renewed() && renewed && terms.leaseMillis() <= leaseMillis)
        || deadlineNanos() - neededUntil >= 0;
  }

  /** Returns whether a request lengthens the hold; after {@code maxHold} it only verifies it. */
  boolean isLengthened(long nowNanos) {
    return renewed && !isStopped() && nowNanos - sinceNanos < context.options().maxHold().toNanos();
  }

  /** Returns whether a level asks for renewal, and at most the client's own lease is left. */
  boolean needsRenewal(long nowNanos) {
    return renewed && deadlineNanos() - nowNanos <= context.options().lease().toNanos();
  }

  void stop(String why) {
    stoppedBecause = why;
  }

  boolean isStopped() {
    return !stoppedBecause.isEmpty();
  }

  String stoppedBecause() {
    return stoppedBecause;
  }

  // ---- the next request

  long nextRequestNanos() {
    return nextRequestNanos;
  }

  void setNextRequest(long nanos) {
    nextRequestNanos = nanos;
  }

  void planRequestAfter(long nowNanos) {
    plannedNanos = nextRequestAfter(nowNanos);
  }

  /** Moves the planned time on if it has come before the reply: the hold is due once. */
  void keepPlannedAhead(long nowNanos) {
    if (nowNanos - plannedNanos >= 0) {
      plannedNanos = nowNanos + intervalNanos();
    }
  }

  /** Returns when the hold is due, also with a request under way; at its deadline at the latest. */
  long dueNanos(boolean inFlight) {
    long end = deadline.nanos();
    long next = inFlight ? plannedNanos : nextRequestNanos;
    return next - end < 0 ? next : end;
  }

  /**
   * Returns the renewal interval: a third of the lease, and at most a third of the client's default
   * lease. A hold that is not renewed is verified at a third of the client's default lease.
   */
  long intervalNanos() {
    long own = context.options().lease().toNanos();
    long third = (renewed ? Math.min(leaseNanos(), own) : own) / 3;
    return Math.min(third, MILLISECONDS.toNanos(protocol.maxRenewalIntervalMillis()));
  }

  /**
   * Returns the longest pause after a request without a reply: a tenth of the lease, or of the
   * client's own if that is shorter. Otherwise one fault would leave a hold with a lease of days
   * unverified for many hours.
   */
  long faultPauseNanos() {
    return Math.min(leaseNanos(), context.options().lease().toNanos()) / 10;
  }

  /**
   * Returns the time of the next request after a reply: the planned time, unless the request was
   * sent late or the interval has changed.
   */
  long nextRequestAfterReply(long sentNanos) {
    long interval = intervalNanos();
    long pause = plannedNanos - sentNanos;
    return pause <= interval && pause >= interval * 4 / 5
        ? sentNanos + pause
        : nextRequestAfter(sentNanos);
  }

  long nextRequestAfter(long sentNanos) {
    return sentNanos + (long) (intervalNanos() * (0.9 + context.random() / 10));
  }

  /** Returns the hold in the form in which it is handed off. */
  TransferableHold toTransferableHold(
      String holder, long token, TransferableHold.TokenReserve reserve) {
    return new TransferableHold(
        holder, deadlineNanos(), nextRequestNanos, leaseMillis, token, reserve, epoch);
  }
}
