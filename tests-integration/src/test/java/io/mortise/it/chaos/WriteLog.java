package io.mortise.it.chaos;

import io.mortise.fencing.FencedStore;
import io.mortise.fencing.StaleTokenException;
import io.mortise.testkit.RedisServer;
import java.util.List;
import redis.clients.jedis.RedisClient;

/**
 * What the locks guard, on a server that nothing happens to: for each resource a list of the tokens
 * of all who wrote it, in the order of their writes, and one of those who wrote it under a guard.
 * So the guard is judged by what has been written, not by what it says itself.
 *
 * <p>A reader writes too: that it has read, with its token, which is the last writer's.
 */
final class WriteLog implements AutoCloseable {
  private static final String APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])";

  private final RedisClient redis;

  WriteLog(String uri) {
    redis = RedisClient.create(uri);
  }

  /** Writes, whoever has been here. */
  void write(String resource, long token) {
    redis.rpush(open(resource), Long.toString(token));
  }

  /** Writes, if nobody with a larger token has been here. */
  void writeGuarded(String resource, long token) {
    try {
      new FencedStore(redis, "{" + resource + "}")
          .eval(token, APPEND, List.of(guarded(resource)), List.of(Long.toString(token)));
    } catch (StaleTokenException e) {
      redis.incr(refused(resource));
    }
  }

  @Override
  public void close() {
    redis.close();
  }

  /**
   * What has been written to some resources.
   *
   * @param writes without a guard
   * @param stale those of them that came after one with a larger token
   * @param guarded under the guard
   * @param guardedStale those of them that came after one with a larger token
   * @param refused by the guard
   */
  record Tally(long writes, long stale, long guarded, long guardedStale, long refused) {
    static final Tally NONE = new Tally(0, 0, 0, 0, 0);

    Tally plus(Tally more) {
      return new Tally(
          writes + more.writes,
          stale + more.stale,
          guarded + more.guarded,
          guardedStale + more.guardedStale,
          refused + more.refused);
    }
  }

  static Tally tally(RedisServer server, String resource) {
    List<Long> open = tokens(server, open(resource));
    List<Long> guarded = tokens(server, guarded(resource));
    Object refused = server.command("GET", refused(resource));
    return new Tally(
        open.size(),
        stale(open),
        guarded.size(),
        stale(guarded),
        refused == null ? 0 : Long.parseLong((String) refused));
  }

  /** How many writes there have been under the guard, refused ones included. */
  static long attempts(RedisServer server, String resource) {
    Object refused = server.command("GET", refused(resource));
    return (Long) server.command("LLEN", guarded(resource))
        + (refused == null ? 0 : Long.parseLong((String) refused));
  }

  /** How many come after a larger one. */
  static long stale(List<Long> tokens) {
    long largest = Long.MIN_VALUE;
    long stale = 0;
    for (long token : tokens) {
      stale += token < largest ? 1 : 0;
      largest = Math.max(largest, token);
    }
    return stale;
  }

  private static List<Long> tokens(RedisServer server, String key) {
    return ((List<?>) server.command("LRANGE", key, "0", "-1"))
        .stream().map(token -> Long.parseLong((String) token)).toList();
  }

  private static String open(String resource) {
    return "open:{" + resource + "}";
  }

  private static String guarded(String resource) {
    return "guarded:{" + resource + "}";
  }

  private static String refused(String resource) {
    return "refused:{" + resource + "}";
  }
}
