package io.mortise.cli.worker;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.RedisClient;

/**
 * A worker's connections for one job.
 *
 * @param shop where the data is
 * @param locks a client for each of the job's servers, in their order
 */
record Connections(RedisClient shop, List<LockClient> locks) implements AutoCloseable {
  private static final Duration TOKEN_IDLE_LIFE = Duration.ofMinutes(1);

  static Connections open(Job job) {
    RedisClient shop = RedisClient.create(job.dataUri());
    shop.getPool().setMaxTotal(job.threads());
    shop.getPool().setMaxIdle(job.threads());
    Connections connections = new Connections(shop, new ArrayList<>());
    try {
      shop.ping();
      LockOptions options =
          LockOptions.builder()
              .lease(Duration.ofMillis(job.leaseMillis()))
              .tokenRetention(TOKEN_IDLE_LIFE)
              .build();
      for (String uri : job.lockUris()) {
        connections.locks.add(LockClient.create(uri, options));
      }
      connections.locks.forEach(locks -> warmUp(locks, job));
      return connections;
    } catch (RuntimeException e) {
      try (connections) {
        throw e;
      }
    }
  }

  /** The first lock of a JVM loads classes: worker processes of different age are to be equals. */
  private static void warmUp(LockClient locks, Job job) {
    new RedisLock(locks, job.lockName() + ":warm-up-of-" + locks.id())
        .tryAcquire()
        .ifPresent(Lease::close);
  }

  @Override
  public void close() {
    try (shop) {
      locks.forEach(LockClient::close);
    }
  }
}
