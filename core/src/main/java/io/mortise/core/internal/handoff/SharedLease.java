package io.mortise.core.internal.handoff;

import io.mortise.core.LockException;
import io.mortise.core.composite.CompositeLease;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One thread's part of a hold that several share: it stands while that one does. */
public final class SharedLease extends CompositeLease {
  private static final Logger LOG = LoggerFactory.getLogger(SharedLease.class);

  private final RedisLease base;
  private final SharedHold share;
  private final @Nullable Thread owner;

  SharedLease(LeaseSource source, RedisLease base, SharedHold share, @Nullable Thread owner) {
    super(source, List.of(base), 1, base.fencingToken(), owner, true);
    this.base = base;
    this.share = share;
    this.owner = owner;
  }

  /** To be called once, by whoever has it, outside of all locks. */
  SharedLease watched() {
    watch();
    return this;
  }

  /** Gives it up when nobody has got it; if it was the last, the hold goes in the background. */
  public void drop() {
    if (share.leave(this)) {
      base.end().drop();
    }
  }

  /** The holder id in Redis. */
  public String holder() {
    return base.holder();
  }

  /** Whether its thread has died without unlocking. */
  boolean isOrphaned() {
    return owner != null && !owner.isAlive();
  }

  /**
   * The last one releases it, and hears whether it was still there. So do the others, but for those
   * for whom somebody has asked a moment ago.
   */
  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    boolean left = false;
    try {
      if (share.mayBeLost(this)) {
        base.verifyNow();
      }
      left = true;
    } catch (IllegalMonitorStateException lost) {
      left = true;
      var unused = share.leave(this);
      return List.of(lost);
    } catch (LockException unknown) { // that is for whoever holds on to it
      left = true;
      LOG.debug("lock '{}': left without an answer", lockName(), unknown);
    } finally {
      if (!left) { // an error: it has no user here any more
        drop();
      }
    }
    if (share.leave(this)) {
      try {
        base.release();
      } catch (RuntimeException e) {
        return List.of(e);
      }
    }
    return List.of();
  }

  @Override
  protected Asked askMembers(Consumer<OwnedLease> action) {
    try {
      action.accept(base);
      return new Asked(1, List.of());
    } catch (RuntimeException e) {
      return new Asked(0, List.of(e));
    }
  }

  /** The others may need it. */
  @Override
  public void setRenewed(boolean wanted) {
    if (wanted) {
      super.setRenewed(true);
    }
  }

  /** The others may need it: it is renewed on for them. */
  @Override
  public void stopRenewal(String why) {
    if (share.leave(this)) {
      base.stopRenewal(why);
    }
  }

  /** What is lost has nothing to be given back. */
  @Override
  protected void lost() {
    var unused = share.leave(this);
  }

  @Override
  protected void onMemberLost(int place, OwnedLease member) {}
}
