package io.mortise.core.composite;

import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.MinimumEnd;
import io.mortise.core.internal.lease.StatefulLease;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A hold that passes the requests to it on to its members: to last longer, to be renewed, to be
 * verified, to remember a token, to keep the lock busy. Enough members have to comply.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link CompositeMembers} keeps the members,
 * and each field of state is volatile or atomic.
 */
abstract class DelegatingLease extends StatefulLease {
  final String name;
  final CompositeMembers members;

  /** The minimum of the hold, for members that join later. */
  final MinimumEnd minimum = new MinimumEnd();

  private final AtomicLong token;

  /** The largest token that the members were asked to remember: not smaller than the hold's. */
  private final AtomicLong askedToken;

  /** Whether renewal was last requested. */
  private volatile boolean renewed;

  /** Why the renewal has stopped for good; empty while it may go on. */
  private volatile String stoppedBecause = "";

  DelegatingLease(
      String name, CompositeMembers members, long token, boolean renewed, LeaseStateMachine state) {
    super(state);
    this.name = name;
    this.members = members;
    this.token = new AtomicLong(token);
    this.askedToken = new AtomicLong(token);
    this.renewed = renewed;
  }

  /** Runs an action on each member, as far as is needed for enough of them. */
  protected abstract MemberReplies askMembers(Consumer<OwnedLease> action);

  @Override
  protected final Duration remainingWhileHeld() {
    return members.remaining();
  }

  @Override
  public final String lockName() {
    return name;
  }

  @Override
  public final long fencingToken() {
    return token.get();
  }

  /** Extends enough of the members, or fails and leaves the renewal as it was. */
  @Override
  public final void extendTo(LeaseTerms terms) {
    boolean before = renewed;
    renewed |= terms.renewed();
    try {
      Consumer<OwnedLease> extension = member -> member.extendTo(terms);
      requireEnough(
          "held, but could not be lengthened for the re-entry",
          covers(terms) // then nothing is sent
              ? MemberReplies.inTurn(members.all(), extension)
              : askMembers(extension));
    } catch (Throwable e) {
      setRenewed(before);
      throw e;
    }
  }

  @Override
  public final boolean covers(LeaseTerms terms) {
    return members.all().stream().allMatch(member -> member.covers(terms));
  }

  /** Returns whether renewal was last requested, and has not been stopped. */
  @Override
  public final boolean isRenewed() {
    return renewed && !isStopped();
  }

  public final boolean isStopped() {
    return !stoppedBecause.isEmpty();
  }

  @Override
  public void setRenewed(boolean wanted) {
    renewed = wanted;
    members.all().forEach(member -> member.setRenewed(wanted));
  }

  @Override
  public void stopRenewal(String why) {
    stoppedBecause = why; // first: the thread that joins a member meanwhile reads it
    members.stopRenewal(why);
  }

  /** Stops the renewal of a member that has joined, if that of the hold has stopped. */
  final void stopIfStopped(OwnedLease member) {
    String why = stoppedBecause;
    if (!why.isEmpty()) {
      member.stopRenewal(why);
    }
  }

  @Override
  public final void keepUntil(long nanos) {
    minimum.extendTo(nanos);
    members.all().forEach(member -> member.keepUntil(nanos));
  }

  @Override
  public void waiveMinimum() {
    minimum.waive();
    for (int i = 0; i < members.capacity(); i++) {
      OwnedLease member = members.at(i);
      if (member != null && isOfThisHoldAlone(i)) {
        member.waiveMinimum();
      }
    }
  }

  /** Returns whether the member at that place is part of nothing else, which may keep it longer. */
  protected boolean isOfThisHoldAlone(int place) {
    return true;
  }

  @Override
  public final void requestVerification() {
    members.all().forEach(OwnedLease::requestVerification);
  }

  @Override
  public final void verifyNow() {
    requireEnough("held, but could not be confirmed", askMembers(OwnedLease::verifyNow));
    ensureValid();
  }

  /** Returns the largest token that any member remembered. */
  @Override
  public final long lastToken() {
    return members.all().stream().mapToLong(OwnedLease::lastToken).max().orElse(0);
  }

  /** Returns false when the hold was lost; its token is unchanged then. */
  @Override
  public final boolean raiseToken(long atLeast) {
    askedToken.accumulateAndGet(atLeast, Math::max); // first, see raiseTokenOf
    MemberReplies replies = askMembers(member -> raiseToken(member, atLeast));
    if (!isLive()) {
      return false;
    }
    if (replies.done() >= members.required()) {
      token.accumulateAndGet(atLeast, Math::max);
      return true;
    }
    if (members.all().size() - replies.missing() >= members.required()) {
      throw AggregateFailure.of(
          name, "held, but its fencing token could not be raised", replies.failures());
    }
    requestVerification(); // too few members are left, and not all have noticed
    return false;
  }

  /**
   * Raises the token of one member to the largest that the members were asked to remember. Called
   * before a member joins, and once more afterwards: a raise in between may not have found the
   * member, but is seen here.
   *
   * @return false when the member did not exist any more
   */
  protected final boolean raiseTokenOf(OwnedLease member) {
    return member.raiseToken(askedToken.get());
  }

  private static void raiseToken(OwnedLease member, long atLeast) {
    if (!member.raiseToken(atLeast)) {
      member.ensureValid();
      throw new IllegalMonitorStateException("lock '" + member.lockName() + "': not held any more");
    }
  }

  /** Throws if too few members completed an action and the hold is still valid. */
  private void requireEnough(String failureText, MemberReplies replies) {
    if (replies.done() < members.required() && isLive()) {
      throw AggregateFailure.of(name, failureText, replies.failures());
    }
  }
}
