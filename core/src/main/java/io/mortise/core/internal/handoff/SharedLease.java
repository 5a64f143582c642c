package io.mortise.core.internal.handoff;

import io.mortise.core.LockException;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.composite.MemberReplies;
import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lease of one user of a shared hold; it lasts as long as that hold.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link Users} orders them.
 */
final class SharedLease extends CompositeLease implements RedisHold {
  private static final Logger LOG = LoggerFactory.getLogger(SharedLease.class);

  /** The users of one shared hold. */
  interface Users {

    /**
     * Returns whether a leaving user has to verify the hold: other users stay, so the hold is not
     * released, and Redis has not confirmed it within {@code LockTuning.maxHandOffTime}.
     */
    boolean needsVerification(SharedLease leaving);

    /**
     * Removes a user; returns whether it was the last one, which has to release the hold. The same
     * again if it is called again after an error.
     */
    boolean leave(SharedLease lease);
  }

  private final RedisLease base;
  private final Users users;
  private final @Nullable Thread owner;
  private final long sinceNanos;
  private final boolean joined;

  /**
   * @param sinceNanos when this user's part of the hold began
   * @param joined whether another user has acquired the hold
   */
  SharedLease(
      LeaseSource source,
      RedisLease base,
      Users users,
      @Nullable Thread owner,
      long sinceNanos,
      boolean joined) {
    super(source, List.of(base), 1, base.fencingToken(), owner, true);
    this.base = base;
    this.users = users;
    this.owner = owner;
    this.sinceNanos = sinceNanos;
    this.joined = joined;
  }

  /**
   * Starts to watch the hold. Must be called once, by the acquiring thread, outside of all locks.
   */
  void startWatching() {
    watch();
  }

  /** May be called again after an error. */
  @Override
  public void drop() {
    if (users.leave(this)) {
      base.drop();
    }
  }

  @Override
  public LeaseContext context() {
    return base.context();
  }

  @Override
  public RedisLease inRedis() {
    return base;
  }

  /** Returns whether the hold is held without open questions. */
  boolean isSettled() {
    return base.isSettled();
  }

  @Override
  public String holder() {
    return base.holder();
  }

  /** A shared hold is never handed off. */
  @Override
  public boolean pin() {
    return isValid();
  }

  @Override
  public long lastReservedToken() {
    return base.lastReservedToken();
  }

  @Override
  public long sinceNanos() {
    return sinceNanos;
  }

  /** Does nothing, because the minimum may be that of another user. */
  @Override
  public void waiveMinimum() {}

  /** The renewals of the hold are reported once, for all users. */
  @Override
  public void reportTo(AcquisitionEvents events) {
    events.acquired(this, joined);
    AcquisitionEvents ofHold = joined ? null : events.ofSharedHold();
    if (ofHold != null) {
      base.reportRenewals(ofHold);
    }
    onEnd(events.onEnd());
  }

  /** Returns whether its thread has died without unlocking. */
  boolean isOrphaned() {
    return owner != null && !owner.isAlive();
  }

  /**
   * Releases the hold if this is the last user, which learns whether the hold was still there.
   * Another user verifies the hold, unless it was confirmed a moment ago, see {@link
   * Users#needsVerification}.
   */
  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    try {
      if (users.needsVerification(this)) {
        base.verifyNow();
      }
    } catch (IllegalMonitorStateException lost) {
      var unused = users.leave(this);
      return List.of(lost);
    } catch (LockException unknown) { // a concern of the users that stay
      LOG.debug("lock '{}': released without a reply to the verification", lockName(), unknown);
    } catch (Throwable e) { // the hold has lost this user
      drop();
      throw e;
    }
    if (users.leave(this)) {
      try {
        base.release();
      } catch (RuntimeException e) {
        return List.of(e);
      }
    }
    return List.of();
  }

  @Override
  protected MemberReplies askMembers(Consumer<OwnedLease> action) {
    return MemberReplies.inTurn(List.of(base), action);
  }

  @Override
  protected boolean membersMayOutlast() {
    return true;
  }

  /** Ignores the end of renewal, because other users may need it. */
  @Override
  public void setRenewed(boolean wanted) {
    if (wanted) {
      super.setRenewed(true);
    }
  }

  /** Leaves the hold, and stops its renewal if this was the last user. */
  @Override
  public void stopRenewal(String why) {
    if (users.leave(this)) {
      base.stopRenewal(why);
    }
  }

  @Override
  protected void releaseMembersInBackground() {
    drop();
  }

  /** Has the hold released in the background, if this was the last user. */
  @Override
  protected void abandonMembers() {
    drop();
  }

  /** Leaves the hold without a command, because a lost hold has nothing to release. */
  @Override
  protected void lost() {
    var unused = users.leave(this);
  }

  /** Leaves the hold now, if an error has kept {@link #lost} from it. */
  @Override
  protected void releaseAfterLoss() {
    lost();
  }

  @Override
  protected void onMemberLost(int index, OwnedLease member) {}
}
