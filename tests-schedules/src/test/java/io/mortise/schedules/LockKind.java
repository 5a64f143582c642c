package io.mortise.schedules;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.AnySegment;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** The lock families, as locks that exclude each other. */
enum LockKind {
  PLAIN(1, Duration.ofSeconds(1), side -> new RedisLock(side.get(0), World.NAME)),
  FAIR(1, Duration.ofSeconds(1), side -> new RedisFairLock(side.get(0), World.NAME)),
  WRITE(
      1,
      Duration.ofSeconds(1),
      side -> new RedisReadWriteLock(side.get(0), World.NAME).writeLock()),
  FAIR_WRITE(
      1,
      Duration.ofSeconds(1),
      side -> RedisReadWriteLock.fair(side.get(0), World.NAME).writeLock()),
  ANY_SEGMENT(1, Duration.ofSeconds(1), side -> AnySegment.of(side.get(0), World.NAME, 1)),
  MULTI(
      2,
      Duration.ofSeconds(1),
      side ->
          new MultiLock(
              new RedisLock(side.get(0), World.NAME), new RedisLock(side.get(1), World.NAME))),
  RED(3, Duration.ofSeconds(1), side -> RedLock.builder().members(World.NAME, side).build());

  /** How many servers a lock has. */
  final int servers;

  /** How long three threads may take, one after the other, if no fault strikes. */
  final Duration maxLateness;

  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  private final Function<List<LockClient>, DistributedLock> create;

  LockKind(int servers, Duration maxLateness, Function<List<LockClient>, DistributedLock> create) {
    this.servers = servers;
    this.maxLateness = maxLateness;
    this.create = create;
  }

  /**
   * Returns the lock of a side.
   *
   * @param clients the clients of one side, one for each server
   */
  DistributedLock of(List<LockClient> clients) {
    return create.apply(clients);
  }
}
