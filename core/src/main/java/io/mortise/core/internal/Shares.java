package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.Terms;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The holds of this client that several threads may share: one hold in Redis for all of them. Each
 * name has at most one that others may still join; those before it go on until the last of their
 * users has left.
 */
final class Shares {
  private final LockOptions options;
  private final Map<String, Share> open = new ConcurrentHashMap<>();

  Shares(LockOptions options) {
    this.options = options;
  }

  /** Whether a hold by these terms may be shared. */
  boolean mayShare(LockProtocol protocol, Terms terms) {
    return terms.renewed()
        && protocol.sharesHolds()
        && options.maxHandOffs() > 0
        && !options.maxHandOffTime().isZero();
  }

  /** Joins the hold that another thread has; null when there is none to be joined. */
  @Nullable SharedHold join(String id, LeaseSource source, Terms terms, @Nullable Thread owner) {
    Share share = open.get(id);
    return share == null ? null : share.join(source, terms, owner);
  }

  /** Lets others join a hold that was just acquired, instead of the one before. */
  SharedHold begin(String id, LeaseSource source, LeaseHandle base, @Nullable Thread owner) {
    Share share = new Share(this, id, base);
    SharedHold first = share.begin(source, owner);
    base.renewal().heldFor(share);
    open.put(id, share);
    return first;
  }

  /** Nobody may join it any more. */
  void ended(String id, Share share) {
    open.remove(id, share);
  }
}
