package io.mortise.it.leases;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;

/** The kinds of locks that are on one server. */
enum SingleServerLock {
  PLAIN,
  FAIR,
  READ,
  WRITE;

  /** Returns the lock of that name. */
  DistributedLock of(LockClient client, String name) {
    return switch (this) {
      case PLAIN -> new RedisLock(client, name);
      case FAIR -> new RedisFairLock(client, name);
      case READ -> new RedisReadWriteLock(client, name).readLock();
      case WRITE -> new RedisReadWriteLock(client, name).writeLock();
    };
  }
}
