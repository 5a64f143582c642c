package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.measure.Latencies;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;

/**
 * How long a server keeps a client waiting that has nothing to do with what is measured: a PING
 * each 2 ms over a connection of its own. Each time begins when its PING was due, so that one that
 * is answered late also counts in those behind it.
 *
 * <p><b>Threads.</b> One thread begins and ends it; the PINGs are sent on a thread of its own.
 */
final class PingProbe implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMillis(2);

  /** A server that is silent for seconds is a figure, not an error. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final CompletableFuture<Latencies> times;
  private volatile boolean ended;

  private PingProbe(RedisServer server) {
    times = new CompletableFuture<>();
    Thread thread = new Thread(() -> complete(server), "ping-probe");
    thread.setDaemon(true);
    thread.start();
  }

  /** Begins to send. */
  static PingProbe begin(RedisServer server) {
    return new PingProbe(server);
  }

  /**
   * Ends it; returns the percentiles, µs.
   *
   * @throws CompletionException if a PING was not answered
   */
  Map<String, Double> end() {
    ended = true;
    Latencies all = times.join();
    return Map.of(
        "ping_p50_us", all.micros(50),
        "ping_p90_us", all.micros(90),
        "ping_p99_us", all.micros(99),
        "ping_max_us", all.maxMicros());
  }

  @Override
  public void close() {
    ended = true;
  }

  private void complete(RedisServer server) {
    try {
      times.complete(send(server));
    } catch (RuntimeException | Error e) {
      times.completeExceptionally(e);
    }
  }

  private Latencies send(RedisServer server) {
    Latencies latencies = new Latencies();
    JedisClientConfig config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis((int) PATIENCE.toMillis())
            .serverDefaultProtocol()
            .build();
    try (Jedis connection = new Jedis(server.host(), server.port(), config)) {
      connection.ping();
      for (long due = System.nanoTime(); !ended; due += INTERVAL.toNanos()) {
        awaitDue(due);
        connection.ping();
        latencies.add(System.nanoTime() - due);
      }
    }
    return latencies;
  }

  /** A sleep would be late by up to 1 ms; {@code parkNanos} may return early. */
  private static void awaitDue(long dueNanos) {
    for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
