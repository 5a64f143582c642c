package io.mortise.core.internal.engine;

import io.mortise.core.internal.lease.LockId;
import io.mortise.core.spi.RedisDeployment;
import org.jspecify.annotations.Nullable;

/**
 * The lock of one kind and name, of one client.
 *
 * <p>It is a key of maps, and so is {@link LockId}. They have methods of their own: those that a
 * record gets are made of method handles, of which JDK 17 keeps the last types, and with them the
 * class loader of an application.
 *
 * @param client only compared, and part of the keys of the lock
 * @param lockId the kind and name of the lock
 * @param clientId the id of the client, for messages
 */
record LockIdentity(RedisDeployment client, LockId lockId, String clientId) {

  /** Returns another lock of the client. */
  LockIdentity of(LockId otherLockId) {
    return new LockIdentity(client, otherLockId, clientId);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockIdentity identity
        && client.equals(identity.client)
        && lockId.equals(identity.lockId);
  }

  @Override
  public int hashCode() {
    return 31 * client.hashCode() + lockId.hashCode();
  }

  @Override
  public String toString() {
    return lockId + " of client " + clientId;
  }
}
