package io.mortise.it.lateness;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentProtocols;
import java.util.List;
import java.util.function.BiFunction;

/** The kinds of locks, on the servers of three clients; all but RedLock use only the first. */
enum ExpiringLock {
  PLAIN((clients, name) -> new RedisLock(clients.get(0), name)),
  FAIR((clients, name) -> new RedisFairLock(clients.get(0), name)),
  READ((clients, name) -> new RedisReadWriteLock(clients.get(0), name).readLock()),
  WRITE((clients, name) -> new RedisReadWriteLock(clients.get(0), name).writeLock()),
  FAIR_WRITE((clients, name) -> RedisReadWriteLock.fair(clients.get(0), name).writeLock()),
  ANY_SEGMENT((clients, name) -> SegmentProtocols.any(clients.get(0), name, 1)),
  MULTI(
      (clients, name) ->
          new MultiLock(
              new RedisLock(clients.get(0), name + ":a"),
              new RedisLock(clients.get(0), name + ":b"))),
  RED((clients, name) -> RedLock.builder().members(name, clients).build());

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
  private final BiFunction<List<LockClient>, String, DistributedLock> factory;

  ExpiringLock(BiFunction<List<LockClient>, String, DistributedLock> factory) {
    this.factory = factory;
  }

  /** Returns the lock of that name. */
  DistributedLock lock(List<LockClient> clients, String name) {
    return factory.apply(clients, name);
  }

  /** Returns a lock that the lock of that name excludes. */
  DistributedLock rival(List<LockClient> clients, String name) {
    return (this == READ ? WRITE : this).lock(clients, name);
  }
}
