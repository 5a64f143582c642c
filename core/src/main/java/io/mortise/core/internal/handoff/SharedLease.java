package io.mortise.core.internal.handoff;

import io.mortise.core.LockException;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.composite.MemberReplies;
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
 * <p><b>Threads.</b> Any thread may call any method; {@link SharedHold} orders the users.
 */
public final class SharedLease extends CompositeLease {
  private static final Logger LOG = LoggerFactory.getLogger(SharedLease.class);

  private final RedisLease base;
  private final SharedHold sharedHold;
  private final @Nullable Thread owner;

  SharedLease(LeaseSource source, RedisLease base, SharedHold sharedHold, @Nullable Thread owner) {
    super(source, List.of(base), 1, base.fencingToken(), owner, true);
    this.base = base;
    this.sharedHold = sharedHold;
    this.owner = owner;
  }

  /**
   * Starts to watch the hold. Must be called once, by the acquiring thread, outside of all locks.
   */
  SharedLease startWatching() {
    watch();
    return this;
  }

  /**
   * Gives the lease up when no caller has received it; if it was the last one, the hold is released
   * in the background.
   */
  public void drop() {
    if (sharedHold.leave(this)) {
      base.termination().drop();
    }
  }

  /** Returns the holder id in Redis. */
  public String holder() {
    return base.holder();
  }

  /** Returns whether its thread has died without unlocking. */
  boolean isOrphaned() {
    return owner != null && !owner.isAlive();
  }

  /**
   * Releases the hold if this is the last user, which learns whether the hold was still there.
   * Another user verifies the hold, unless it was confirmed a moment ago, see {@link
   * SharedHold#needsVerification}.
   */
  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    boolean handled = false;
    try {
      if (sharedHold.needsVerification(this)) {
        base.verifyNow();
      }
      handled = true;
    } catch (IllegalMonitorStateException lost) {
      handled = true;
      var unused = sharedHold.leave(this);
      return List.of(lost);
    } catch (LockException unknown) { // a concern of the users that stay
      handled = true;
      LOG.debug("lock '{}': released without a reply to the verification", lockName(), unknown);
    } finally {
      if (!handled) { // an error: the hold has lost this user
        drop();
      }
    }
    if (sharedHold.leave(this)) {
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
    if (sharedHold.leave(this)) {
      base.stopRenewal(why);
    }
  }

  /** Leaves the hold without a command, because a lost hold has nothing to release. */
  @Override
  protected void lost() {
    var unused = sharedHold.leave(this);
  }

  @Override
  protected void onMemberLost(int index, OwnedLease member) {}
}
