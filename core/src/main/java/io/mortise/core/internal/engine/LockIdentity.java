package io.mortise.core.internal.engine;

import io.mortise.core.internal.lease.LockId;
import io.mortise.core.spi.RedisDeployment;

/**
 * The lock of one kind and name, of one client.
 *
 * @param client only compared, and part of the keys of the lock
 * @param clientId the id of the client, for messages
 * @param lockId the kind and name of the lock
 */
record LockIdentity(RedisDeployment client, String clientId, LockId lockId) {

  /** Returns another lock of the client. */
  LockIdentity of(LockId otherLockId) {
    return new LockIdentity(client, clientId, otherLockId);
  }

  @Override
  public String toString() {
    return lockId + " of client " + clientId;
  }
}
