package io.mortise.cli.worker;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.RedisClient;

/**
 * A worker's connections for one job.
 *
 * @param shop where the stock is
 * @param locks a client for each of the job's servers, in their order
 */
record Connections(RedisClient shop, List<LockClient> locks) implements AutoCloseable {
  private static final Duration TOKEN_IDLE_LIFE = Duration.ofMinutes(1);

  static Connections open(Job job) {
    RedisClient shop = RedisClient.create(job.redisUris().get(0));
    shop.getPool().setMaxTotal(job.threads());
    shop.getPool().setMaxIdle(job.threads());
    Connections connections = new Connections(shop, new ArrayList<>());
    try {
      shop.ping();
      LockOptions options =
          LockOptions.builder()
              .lease(Duration.ofMillis(job.leaseMillis()))
              .tokenIdleLife(TOKEN_IDLE_LIFE)
              .build();
      for (String uri : job.redisUris()) {
        connections.locks.add(LockClient.create(uri, options));
      }
      return connections;
    } catch (RuntimeException e) {
      try (connections) {
        throw e;
      }
    }
  }

  @Override
  public void close() {
    try (shop) {
      locks.forEach(LockClient::close);
    }
  }
}
