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

  ScriptCall releaseCall() {
    return protocol.release(holder);
  }
}
