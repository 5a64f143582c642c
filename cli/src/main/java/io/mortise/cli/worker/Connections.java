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
 * The connections of a worker for one job.
 *
 * @param data a client for the data
 * @param locks a client for each of the job's servers, in their order
 */
record Connections(RedisClient data, List<LockClient> locks) implements AutoCloseable {
  private static final Duration TOKEN_RETENTION = Duration.ofMinutes(1);

  static Connections open(Job job) {
    RedisClient data = RedisClient.create(job.dataUri());
    data.getPool().setMaxTotal(job.threads());
    data.getPool().setMaxIdle(job.threads());
    Connections connections = new Connections(data, new ArrayList<>());
    try {
      data.ping();
      LockOptions options =
          LockOptions.builder()
              .lease(Duration.ofMillis(job.leaseMillis()))
              .tuning(t -> t.tokenRetention(TOKEN_RETENTION))
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

  /** Loads the classes of a lock, so that worker processes of different age are equal. */
  private static void warmUp(LockClient locks, Job job) {
    new RedisLock(locks, job.lockName() + ":warm-up-of-" + locks.id())
        .tryAcquire()
        .ifPresent(Lease::close);
  }

  @Override
  public void close() {
    try (data) {
      locks.forEach(LockClient::close);
    }
  }
}
