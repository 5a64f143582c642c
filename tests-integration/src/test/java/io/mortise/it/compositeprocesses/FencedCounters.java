package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.fencing.FencedStore;
import io.mortise.fencing.StaleTokenException;
import io.mortise.testkit.RedisServer;
import java.util.List;
import redis.clients.jedis.RedisClient;

/**
 * Counters that are read and written back, not atomically, on a server without faults. Reads and
 * writes are fenced if the caller has a token, because a write depends on its read.
 *
 * <p>A second counter counts the writes, so a lost update shows as a difference.
 */
final class FencedCounters implements AutoCloseable {
  private static final String READ = "return redis.call('GET', KEYS[1]) or '0'";
  private static final String WRITE =
      "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[2])";

  private final RedisClient redis;

  FencedCounters(String uri) {
    this.redis = RedisClient.create(uri);
  }

  /**
   * Adds one to the counter of that name.
   *
   * @return false if it was refused because of a larger token
   */
  boolean addOne(String name, long token) {
    try {
      long value = Long.parseLong((String) eval(name, token, READ, ""));
      eval(name, token, WRITE, Long.toString(value + 1));
      return true;
    } catch (StaleTokenException e) {
      return false;
    }
  }

  private Object eval(String name, long token, String script, String value) {
    List<String> keys = List.of(valueKey(name), writesKey(name));
    return token > 0
        ? new FencedStore(redis, name).eval(token, script, keys, List.of(value))
        : redis.eval(script, keys, List.of(value));
  }

  private static String valueKey(String name) {
    return "{" + name + "}:value";
  }

  private static String writesKey(String name) {
    return "{" + name + "}:writes";
  }

  /** The number of writes to the counter of that name. */
  static long writes(RedisServer server, String name) {
    return number(server, writesKey(name));
  }

  /** Fails if an update was lost. */
  static void assertNothingLost(RedisServer server, String name) {
    assertEquals(writes(server, name), number(server, valueKey(name)), "an update was lost");
  }

  private static long number(RedisServer server, String key) {
    Object value = server.command("GET", key);
    return value == null ? 0 : Long.parseLong((String) value);
  }

  @Override
  public void close() {
    redis.close();
  }
}
