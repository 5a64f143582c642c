package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one hold.
 *
 * @param holder the holder id in Redis
 * @param owner the thread that owns the hold; null for a handle, and for a hold that is shared
 */
record HoldIdentity(LockProtocol protocol, String holder, @Nullable Thread owner) {

  String lockName() {
    return protocol.name().value();
  }

  /** Returns the release at that time: it keeps the lock busy for the rest of the minimum. */
  ScriptCall releaseCall(MinimumEnd minimum, long nowNanos) {
    long restMillis = minimum.leftMillis(nowNanos);
    return restMillis > 0 ? protocol.keep(holder, restMillis) : protocol.release(holder);
  }

  /** Returns why its owner cannot release the hold any more; null if it can, and for a handle. */
  @Nullable String abandonedBecause() {
    return owner == null || owner.isAlive()
        ? null
        : "its thread '" + owner.getName() + "' ended without unlocking";
  }
}
