package io.mortise.benchmarks.locks;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/**
 * Makes many readers of one lock, or waiters for one, of which each has an id of its own in Redis.
 */
final class ManyHolders {
  private static final int BATCH = 1_000;

  /** The place of the version in the text of a UUID; 8 tells a client of Mortise. */
  private static final int VERSION_INDEX = 14;

  private ManyHolders() {}

  /** Readers, by Mortise's own script, as a client for each batch would send it. */
  static void reading(String uri, String name, int readers, Duration lease) {
    try (Jedis jedis = new Jedis(URI.create(uri))) {
      ScriptedSection.Call call =
          ScriptedSection.readCall(jedis, name, ScriptedSection.bytes(lease.toMillis()));
      send(jedis, call, readers, call::requireGranted);
    }
  }

  /** Waiters of a fair lock that somebody holds, in the same way. */
  static void queued(String uri, String name, int waiters) {
    try (Jedis jedis = new Jedis(URI.create(uri))) {
      ScriptedSection.Call call = ScriptedSection.fairCall(jedis, name);
      send(jedis, call, waiters, call::requireQueued);
    }
  }

  private static void send(
      Jedis jedis, ScriptedSection.Call call, int count, Consumer<Object> check) {
    for (int from = 0; from < count; from += BATCH) {
      StringBuilder client = new StringBuilder(UUID.randomUUID().toString());
      client.setCharAt(VERSION_INDEX, '8');
      List<Response<Object>> answers = new ArrayList<>();
      try (Pipeline pipeline = jedis.pipelined()) {
        for (int i = from; i < Math.min(from + BATCH, count); i++) {
          answers.add(call.in(pipeline, ScriptedSection.bytes(client + ":" + i)));
        }
      }
      answers.forEach(answer -> check.accept(answer.get()));
    }
  }

  /** Readers, by Redisson's own client, with a thread id for each reader. */
  static void readingByRedisson(String uri, String name, int readers, Duration lease) {
    RedissonClient client = Redisson.create(RedissonLocks.config(uri, false));
    try {
      RLock lock = client.getReadWriteLock(name).readLock();
      for (int from = 0; from < readers; from += BATCH) {
        List<RFuture<Void>> answers = new ArrayList<>();
        for (int i = from; i < Math.min(from + BATCH, readers); i++) {
          answers.add(lock.lockAsync(lease.toMillis(), TimeUnit.MILLISECONDS, i + 1L));
        }
        answers.forEach(answer -> answer.toCompletableFuture().join());
      }
    } finally {
      client.shutdown();
    }
  }
}
