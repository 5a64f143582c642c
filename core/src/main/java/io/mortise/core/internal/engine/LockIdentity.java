package io.mortise.core.internal.engine;

import io.mortise.core.internal.lease.LockId;
import io.mortise.core.spi.RedisDeployment;

/**
 * The lock of one kind and name, of one client.
 *
 * <p>The last component is of a type of the JDK: a method handle of JDK 17 keeps the type of the
 * last component that any record has hashed, and with it the class loader of an application.
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
  public String toString() {
    return lockId + " of client " + clientId;
  }
}
