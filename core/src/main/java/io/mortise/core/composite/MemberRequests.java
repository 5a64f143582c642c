package io.mortise.core.composite;

import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The requests of a composite hold to its members: to last longer, to be renewed, to be verified,
 * to remember a token. Enough members have to comply.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link CompositeMembers} keeps the members,
 * and each field of state is volatile or atomic.
 */
final class MemberRequests {
  private final String name;
  private final CompositeMembers members;
  private final Consumer<Boolean> resetRenewed;
  private final Function<Consumer<OwnedLease>, MemberReplies> ask;
  private final BooleanSupplier live;
  private final AtomicLong token;

  /** The largest token that the members were asked to remember: not smaller than the hold's. */
  private final AtomicLong askedToken;

  /** Whether renewal was last requested. */
  private volatile boolean renewed;

  /** Why the renewal has stopped for good; empty while it may go on. */
  private volatile String stoppedBecause = "";

  /**
   * Creates the requests of a hold.
   *
   * @param name the lock, for messages
   * @param resetRenewed sets the renewal of the whole hold, after an extension that failed
   * @param ask runs an action on the members, as far as is needed for enough of them
   * @param live whether the whole hold has not ended
   */
  MemberRequests(
      String name,
      CompositeMembers members,
      long token,
      boolean renewed,
      Consumer<Boolean> resetRenewed,
      Function<Consumer<OwnedLease>, MemberReplies> ask,
      BooleanSupplier live) {
    this.name = name;
    this.members = members;
    this.token = new AtomicLong(token);
    this.askedToken = new AtomicLong(token);
    this.renewed = renewed;
    this.resetRenewed = resetRenewed;
    this.ask = ask;
    this.live = live;
  }

  /**
   * Extends enough of the members, or fails; after a failure the renewal is set as it was before.
   */
  void extendTo(LeaseTerms terms) {
    boolean before = renewed;
    renewed |= terms.renewed();
    try {
      Consumer<OwnedLease> extension = member -> member.extendTo(terms);
      requireEnough(
          "held, but could not be lengthened for the re-entry",
          covers(terms) // then nothing is sent
              ? MemberReplies.inTurn(members.all(), extension)
              : ask.apply(extension));
    } catch (Throwable e) {
      resetRenewed.accept(before);
      throw e;
    }
  }

  boolean covers(LeaseTerms terms) {
    return members.all().stream().allMatch(member -> member.covers(terms));
  }

  boolean isRenewed() {
    return renewed && stoppedBecause.isEmpty();
  }

  void setRenewed(boolean wanted) {
    renewed = wanted;
    members.all().forEach(member -> member.setRenewed(wanted));
  }

  /** Stops the renewal of all members for good. */
  void stopRenewal(String why) {
    stoppedBecause = why; // first: the thread that joins a member meanwhile reads it
    members.stopRenewal(why);
  }

  /** Stops the renewal of a member that has joined, if that of the hold has stopped. */
  void stopIfStopped(OwnedLease member) {
    String why = stoppedBecause;
    if (!why.isEmpty()) {
      member.stopRenewal(why);
    }
  }

  void requestVerification() {
    members.all().forEach(OwnedLease::requestVerification);
  }

  void verifyNow() {
    requireEnough("held, but could not be confirmed", ask.apply(OwnedLease::verifyNow));
  }

  long token() {
    return token.get();
  }

  /** Returns false when the hold was lost; its token is unchanged then. */
  boolean raiseToken(long atLeast) {
    askedToken.accumulateAndGet(atLeast, Math::max); // first, see raiseTokenOf
    MemberReplies replies = ask.apply(member -> raiseToken(member, atLeast));
    if (!live.getAsBoolean()) {
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
  boolean raiseTokenOf(OwnedLease member) {
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
    if (replies.done() < members.required() && live.getAsBoolean()) {
      throw AggregateFailure.of(name, failureText, replies.failures());
    }
  }
}
