package io.mortise.schedules.model;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentedLock;
import java.util.function.Function;

/** The locks of a sequence that are not made of others: one key in Redis, and one mode of it. */
enum Leaf {
  A("a", false, client -> new RedisLock(client, "a")),
  B("b", false, client -> new RedisLock(client, "b")),
  FAIR("f", false, client -> new RedisFairLock(client, "f")),
  READ("r", true, client -> new RedisReadWriteLock(client, "r").readLock()),
  WRITE("r", false, client -> new RedisReadWriteLock(client, "r").writeLock()),
  FAIR_READ("q", true, client -> RedisReadWriteLock.fair(client, "q").readLock()),
  FAIR_WRITE("q", false, client -> RedisReadWriteLock.fair(client, "q").writeLock()),
  SEGMENT_0("{s}:0", false, client -> new SegmentedLock(client, "s", 2).segment(0)),
  SEGMENT_1("{s}:1", false, client -> new SegmentedLock(client, "s", 2).segment(1));

  /** The key in Redis. */
  final String key;

  /** Whether several may hold it together. */
  final boolean shared;

  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  private final Function<LockClient, DistributedLock> create;

  Leaf(String key, boolean shared, Function<LockClient, DistributedLock> create) {
    this.key = key;
    this.shared = shared;
    this.create = create;
  }

  DistributedLock of(LockClient client) {
    return create.apply(client);
  }

  /** Returns whether it is a side of a read-write lock. */
  boolean isReadWrite() {
    return this == READ || this == WRITE || this == FAIR_READ || this == FAIR_WRITE;
  }

  /** Returns the read lock that belongs to this write lock. */
  Leaf readSide() {
    return this == WRITE ? READ : FAIR_READ;
  }

  /** Returns whether a hold of the one keeps others from the other. */
  boolean excludes(Leaf other) {
    return key.equals(other.key) && !(shared && other.shared);
  }
}
