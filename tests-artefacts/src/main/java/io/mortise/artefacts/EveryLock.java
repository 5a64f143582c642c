package io.mortise.artefacts;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.fencing.FencedStore;
import io.mortise.micrometer.LockMetrics;
import io.mortise.micrometer.ObservedLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentedLock;
import java.util.List;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.UnifiedJedis;

/** Takes and releases a lock of each family, and writes with the fencing token of the first. */
final class EveryLock {
  private EveryLock() {}

  static void use(LockClient client, UnifiedJedis jedis) {
    RedisReadWriteLock readWrite = new RedisReadWriteLock(client, "artefacts:rw");
    List<DistributedLock> locks =
        List.of(
            new RedisLock(client, "artefacts:plain"),
            new RedisFairLock(client, "artefacts:fair"),
            readWrite.readLock(),
            readWrite.writeLock(),
            new MultiLock(
                new RedisLock(client, "artefacts:a"), new RedisFairLock(client, "artefacts:b")),
            new RedLock(new RedisLock(client, "artefacts:node")),
            new SegmentedLock(client, "artefacts:segmented", 3).all(),
            ObservedLock.of(
                new RedisLock(client, "artefacts:observed"), ObservationRegistry.create()));
    MeterRegistry registry = new SimpleMeterRegistry();
    LockMetrics metrics = LockMetrics.create();
    metrics.bindTo(registry);
    metrics.watch(client);
    for (DistributedLock lock : locks) {
      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        if (registry.get("mortise.lock.holds").gauge().value() < 1) {
          throw new IllegalStateException(lock.name() + " is held, and no gauge shows it");
        }
        System.out.println("held: " + lock.name() + ", token " + lease.fencingToken());
      }
      if (lock.isLocked()) {
        throw new IllegalStateException(lock.name() + " is held after its release");
      }
    }
    new FencedStore(jedis, "artefacts:resource")
        .execute(1, Protocol.Command.SET, "artefacts:value", "written");
    if (!"written".equals(jedis.get("artefacts:value"))) {
      throw new IllegalStateException("the fenced write did not arrive");
    }
  }
}
