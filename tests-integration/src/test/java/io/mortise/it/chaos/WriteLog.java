package io.mortise.it.chaos;

import io.mortise.fencing.FencedStore;
import io.mortise.fencing.StaleTokenException;
import io.mortise.testkit.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * The resources that the locks guard, on a server that no fault strikes: for each resource a list
 * of the tokens of all writes, in order, and a list of those under a guard ({@link FencedStore}).
 * So the guard is judged by what was written, not by its own answers.
 *
 * <p><b>Threads.</b> One thread writes; any thread may look at what was written.
 *
 * <p>A reader records that it has read, with its token, which is the last writer's.
 */
final class WriteLog implements AutoCloseable {
  private static final String APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])";

  private final String uri;
  private RedisClient redis;

  /** Whether an error may have left a reply in a connection, or a connection outside the pool. */
  private boolean broken;

  WriteLog(String uri) {
    this.uri = uri;
    redis = connect(uri);
  }

  /** Without the evictor, a thread that would outlive a client whose closing fails. */
  private static RedisClient connect(String uri) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setTimeBetweenEvictionRuns(Duration.ofMillis(-1));
    return RedisClient.builder()
        .hostAndPort(JedisURIHelper.getHostAndPort(URI.create(uri)))
        .poolConfig(pool)
        .build();
  }

  @FunctionalInterface
  private interface Command {
    void send(RedisClient redis);
  }

  private void send(Command command) {
    if (broken) {
      redis.close();
      redis = connect(uri);
    }
    broken = true;
    command.send(redis);
    broken = false;
  }

  /** Writes without a guard. */
  void write(String resource, long token) {
    send(redis -> redis.rpush(unguarded(resource), Long.toString(token)));
  }

  /** Writes unless a larger token was written before. */
  void writeGuarded(String resource, long token) {
    send(
        redis -> {
          try {
            new FencedStore(redis, "{" + resource + "}")
                .eval(token, APPEND, List.of(guarded(resource)), List.of(Long.toString(token)));
          } catch (StaleTokenException e) {
            redis.incr(refused(resource));
          }
        });
  }

  @Override
  public void close() {
    redis.close();
  }

  /**
   * The number of writes to some resources.
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
    List<Long> unguarded = tokens(server, unguarded(resource));
    List<Long> guarded = tokens(server, guarded(resource));
    return new Tally(
        unguarded.size(),
        stale(unguarded),
        guarded.size(),
        stale(guarded),
        refusedWrites(server, resource));
  }

  /** Returns the number of writes under the guard, refused ones included. */
  static long attempts(RedisServer server, String resource) {
    return (Long) server.command("LLEN", guarded(resource)) + refusedWrites(server, resource);
  }

  private static long refusedWrites(RedisServer server, String resource) {
    Object refused = server.command("GET", refused(resource));
    return refused == null ? 0 : Long.parseLong((String) refused);
  }

  /** Returns how many come after a larger one. */
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

  private static String unguarded(String resource) {
    return "unguarded:{" + resource + "}";
  }

  private static String guarded(String resource) {
    return "guarded:{" + resource + "}";
  }

  private static String refused(String resource) {
    return "refused:{" + resource + "}";
  }
}
