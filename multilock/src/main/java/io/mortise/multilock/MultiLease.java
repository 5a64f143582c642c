package io.mortise.multilock;

import io.mortise.core.composite.CompositeLease;
import io.mortise.core.composite.MemberReplies;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hold that is valid while all of its members are.
 *
 * <p><b>Threads.</b> Any thread may call it; {@link CompositeLease} says what orders it. Re-entry
 * and exit of a thread's hold belong to that thread, and so does its release.
 */
final class MultiLease extends CompositeLease {
  private final List<LeaseSource> memberSources;
  private final MemberMode mode;
  private final long roundNanos;

  /**
   * Whether the members have been exited, or given up. For a thread only that thread uses it. For a
   * handle it does not matter: giving a member up twice changes nothing.
   */
  private boolean exited;

  /**
   * @param memberSources the sources of its members, in the same order as the members
   * @param roundNanos when the round began that acquired the members; its thread may have held some
   *     of them before
   */
  MultiLease(
      LeaseSource source,
      List<LeaseSource> memberSources,
      List<OwnedLease> members,
      long token,
      @Nullable Thread owner,
      boolean renewed,
      MemberMode mode,
      long roundNanos) {
    super(source, members, members.size(), token, owner, renewed);
    this.memberSources = memberSources;
    this.mode = mode;
    this.roundNanos = roundNanos;
    watch();
  }

  @Override
  public long sinceNanos() {
    long granted = super.sinceNanos();
    return granted - roundNanos >= 0 ? granted : roundNanos;
  }

  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    exited = true; // first, because an error in it leaves no member with the thread either
    return mode.release(memberSources, held);
  }

  /**
   * Exits the members, unless they have been exited. Otherwise they would stay with the thread,
   * which has forgotten this hold and could not release them.
   */
  @Override
  protected void abandonMembers() {
    if (!exited) {
      exited = true;
      abandonFrom(0);
    }
  }

  private void abandonFrom(int place) {
    if (place < memberSources.size()) {
      try {
        mode.abandon(memberSources.get(place), Objects.requireNonNull(member(place)));
      } finally {
        abandonFrom(place + 1);
      }
    }
  }

  /** A thread may hold a member separately too, with a minimum of its own. */
  @Override
  protected boolean isOfThisHoldAlone(int place) {
    return !mode.ownsByThread() || ThreadOwnership.holdCount(memberSources.get(place)) <= 1;
  }

  /** A thread re-enters each member, because it may also hold the member separately. */
  @Override
  public void reenter(LeaseTerms terms) {
    ensureValid();
    mode.reenter(memberSources, terms.withoutMinimum());
  }

  @Override
  public void exit(boolean renewed) {
    if (!exited) {
      mode.exit(memberSources);
    }
  }

  /** Exits all levels of the members, and releases in the background what was not lost. */
  @Override
  public void giveUpLost(int levels) {
    if (mode.ownsByThread() && !exited) {
      exited = true;
      try {
        for (int i = 0; i < levels; i++) {
          var unused = mode.release(memberSources, members(), MultiLease::releaseInBackground);
        }
      } catch (Throwable e) { // nobody is left to release them
        stopRenewal(UNRELEASED);
        throw e;
      } finally {
        endWatchesAfterLoss(); // a member that the thread holds separately may last
      }
    }
  }

  private static List<RuntimeException> releaseInBackground(List<? extends OwnedLease> leases) {
    leases.forEach(OwnedLease::releaseInBackground);
    return List.of();
  }

  @Override
  protected boolean membersMayOutlast() {
    return mode.ownsByThread();
  }

  @Override
  protected MemberReplies askMembers(Consumer<OwnedLease> action) {
    return MemberReplies.inTurn(members(), action);
  }

  /**
   * A thread that did not know of the loss releases the other members when it unlocks; those of a
   * handle are released by now.
   */
  @Override
  protected void releaseAfterLoss() {
    if (mode.ownsByThread() && !exited) {
      releaseLostMembers();
    }
  }

  /** Does nothing: the loss of one member is the loss of the hold. */
  @Override
  protected void onMemberLost(int place, OwnedLease member) {}
}
