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
 * @param kind the family of the lock
 * @param name the name in Redis
 */
record LockIdentity(RedisDeployment client, String kind, String name) {

  /** Returns the lock of another kind, with the same name. */
  LockIdentity ofKind(String otherKind) {
    return new LockIdentity(client, otherKind, name);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockIdentity identity
        && client.equals(identity.client)
        && kind.equals(identity.kind)
        && name.equals(identity.name);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * client.hashCode() + kind.hashCode()) + name.hashCode();
  }

  @Override
  public String toString() {
    return kind + ":" + name;
  }
}
