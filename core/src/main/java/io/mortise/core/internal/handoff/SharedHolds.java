package io.mortise.core.internal.handoff;

import io.mortise.core.LockOptions;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The holds of this client that several threads may share: one hold in Redis for all of them. Each
 * name has at most one that others may still join; those before it go on until the last of their
 * users has left.
 */
public final class SharedHolds {
  private final LockOptions options;
  private final Map<String, SharedHold> open = new ConcurrentHashMap<>();

  public SharedHolds(LockOptions options) {
    this.options = options;
  }

  /** Whether a hold by these terms may be shared. */
  boolean mayShare(LockProtocol protocol, LeaseTerms terms) {
    return terms.renewed()
        && protocol.allowsSharing()
        && options.maxHandOffs() > 0
        && !options.maxHandOffTime().isZero();
  }

  /** Joins the hold that another thread has; null when there is none to be joined. */
  @Nullable SharedLease join(
      String id, LeaseSource source, LeaseTerms terms, @Nullable Thread owner) {
    SharedHold share = open.get(id);
    return share == null ? null : share.join(source, terms, owner);
  }

  /** Lets others join a hold that was just acquired, instead of the one before. */
  SharedLease begin(String id, LeaseSource source, RedisLease base, @Nullable Thread owner) {
    SharedHold share = new SharedHold(this, id, base);
    SharedLease first = share.begin(source, owner);
    base.renewal().setSharers(share);
    open.put(id, share);
    return first;
  }

  /** Nobody may join it any more. */
  void ended(String id, SharedHold share) {
    open.remove(id, share);
  }
}
